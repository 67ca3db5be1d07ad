package dev.culvert.handlers.server;

import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.EdgeException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.util.List;

/** Validates the method, the target and the Host field of a request (RFC 9112 §3.2). */
final class HandlerTarget {
    private HandlerTarget() {}

    /**
     * Returns the target in origin form with its bytes as received, or {@code *}. Throws {@link
     * EdgeException}: 405 for CONNECT and TRACE, 400 for a target of another form, a missing, repeated or
     * invalid Host, or an absolute form that names another host. HTTP/1.0 needs no Host, because health
     * checks of balancers send none.
     */
    static String originForm(HttpMethod method, String target, HttpHeaders headers, boolean http10) {
        TargetForm.requireServed(method.name());
        List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
        String host = http10 && hosts.isEmpty() ? null : TargetForm.host(hosts);
        return TargetForm.path(target, method, host);
    }
}

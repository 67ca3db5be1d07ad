package dev.culvert.http.net;

import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpStatusClass;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Date;

/**
 * Encodes the responses of a listener that answers itself. A response to HEAD has no body, whatever its
 * fields declare. Each final response gets a {@code Date} (RFC 9110 §6.6.1) unless it has one. Of one
 * connection, and confined to its event loop.
 */
public final class PairedResponseEncoder extends HttpResponseEncoder {
    /** The methods of the unanswered requests. */
    private final ArrayDeque<HttpMethod> methods = new ArrayDeque<>(2);

    /** A request was received. Its response will follow those of earlier requests. */
    public void requested(HttpMethod method) {
        methods.add(method);
    }

    @Override
    protected void sanitizeHeadersBeforeEncode(HttpResponse response, boolean alwaysEmpty) {
        super.sanitizeHeadersBeforeEncode(response, alwaysEmpty);
        if (!isInterim(response) && !response.headers().contains(HttpHeaderNames.DATE)) {
            response.headers().set(HttpHeaderNames.DATE, DateFormatter.format(Date.from(Instant.now())));
        }
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpResponse response) {
        boolean toHead = !isInterim(response) && HttpMethod.HEAD.equals(methods.poll());
        return toHead || super.isContentAlwaysEmpty(response);
    }

    private static boolean isInterim(HttpResponse response) {
        return response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    }
}

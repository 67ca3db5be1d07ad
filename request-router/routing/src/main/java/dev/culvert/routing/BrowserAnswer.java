package dev.culvert.routing;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.http.problem.ProxyStatus;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.routing.RouteConfig.Cors;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The response to browsers while their upstream is unavailable. Without CORS fields a browser cannot read the
 * problem, and a failed preflight hides it completely.
 */
final class BrowserAnswer implements UpstreamCall.AwayAnswer {
    private static final int BAD_GATEWAY = 502;

    private final Cors cors;
    private final Http2Headers request;
    private final @Nullable CharSequence origin;

    BrowserAnswer(Cors cors, Http2Headers request) {
        this.cors = cors;
        this.request = request;
        this.origin = request.get("origin"); // the upstream may be told another one
    }

    @Override
    public boolean answer(Problem problem, ResponseSink response) {
        if (problem.hop() != Hop.UPSTREAM) {
            return false;
        }
        String method = String.valueOf(request.method());
        if (method.equals("OPTIONS") && problem.cause().status() == BAD_GATEWAY) {
            response.head(withCors(new DefaultHttp2Headers().status("204")), true);
            return true;
        }
        ProblemDocument document = ProblemDocument.of(problem, ForwardingRules.requestId(request).toString());
        Http2Headers head = new DefaultHttp2Headers().status(Integer.toString(document.status()));
        document.fields().forEach(field -> head.set(field.name(), field.value()));
        ProblemDocument.Field status = ProxyStatus.of(ProxyStatus.ROUTER, problem);
        head.set(status.name(), status.value());
        boolean toHead = method.equals("HEAD");
        response.head(withCors(head), toHead);
        if (!toHead) {
            response.data(Unpooled.wrappedBuffer(document.body()));
            response.end(null);
        }
        return true;
    }

    private Http2Headers withCors(Http2Headers head) {
        boolean known = origin != null
                && cors.allowOrigins().contains(origin.toString().toLowerCase(Locale.ROOT));
        head.set("access-control-allow-origin", known ? origin : "*");
        if (known) {
            head.set("access-control-allow-credentials", "true");
        }
        head.set("access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE");
        head.set("access-control-allow-headers", "content-type,x-access-token");
        return head.set("vary", "Origin");
    }
}

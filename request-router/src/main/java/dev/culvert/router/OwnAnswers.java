package dev.culvert.router;

import dev.culvert.http.observe.Readiness;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.function.Supplier;

/**
 * Answers the probes of Kubernetes in a router's own pod: {@code /healthz} (the process lives) and {@code
 * /readyz} (it accepts requests). Passes other requests to the next relay. A router inside a tunnel client
 * does not have these paths.
 */
final class OwnAnswers implements Relay {
    private final Supplier<Readiness> readiness;
    private final Relay next;

    /** @param readiness called on event loops; must not block */
    OwnAnswers(Supplier<Readiness> readiness, Relay next) {
        this.readiness = readiness;
        this.next = next;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Http2Headers fields = request.fields();
        String target = String.valueOf(fields.path());
        int question = target.indexOf('?');
        return switch (question < 0 ? target : target.substring(0, question)) {
            case "/healthz" -> answer(fields, Readiness.READY, response);
            case "/readyz" -> answer(fields, readiness.get(), response);
            default -> next.open(request, response);
        };
    }

    private static RequestSink answer(Http2Headers request, Readiness ready, ResponseSink response) {
        String method = String.valueOf(request.method());
        boolean toHead = method.equals("HEAD");
        if (!toHead && !method.equals("GET")) {
            response.fail(UpstreamProblem.HEALTH_METHOD);
            return SwallowingSink.INSTANCE;
        }
        String line = ready.text() + "\n";
        response.head(new DefaultHttp2Headers().status(ready.ready() ? "200" : "503")
                .set("content-type", "text/plain; charset=utf-8")
                .set("cache-control", "no-store")
                .set("content-length", Integer.toString(line.length())), toHead);
        if (!toHead) {
            response.data(ByteBufUtil.writeAscii(UnpooledByteBufAllocator.DEFAULT, line));
            response.end(null);
        }
        return SwallowingSink.INSTANCE;
    }
}

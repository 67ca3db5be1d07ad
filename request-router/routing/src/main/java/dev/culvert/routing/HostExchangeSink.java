package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.tls.KeyExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Passes a response on, with the hosts of its head exchanged. */
record HostExchangeSink(HostExchange hosts, UrlOrigin outer, ResponseSink asker) implements ResponseSink {
    /** Exchanges the hosts of a request, and returns the receiver of its response. */
    static ResponseSink of(HostExchange hosts, RelayRequest request, ResponseSink asker) {
        UrlOrigin outer = hosts.request(request.fields());
        return outer == null ? asker : new HostExchangeSink(hosts, outer, asker);
    }

    @Override
    public void opened() {
        asker.opened();
    }

    @Override
    public void carriedBy(@Nullable KeyExchange tls) {
        asker.carriedBy(tls);
    }

    @Override
    public void times(int routerMicros, int upstreamMicros) {
        asker.times(routerMicros, upstreamMicros);
    }

    @Override
    public void informational(Http2Headers head) {
        asker.informational(head);
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        hosts.response(head, outer);
        asker.head(head, ended);
    }

    @Override
    public void data(ByteBuf body) {
        asker.data(body);
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        asker.end(trailers);
    }

    @Override
    public void notReached(String trouble) {
        asker.notReached(trouble);
    }

    @Override
    public void fail(Problem problem) {
        asker.fail(problem);
    }

    @Override
    public void ending(Problem problem) {
        asker.ending(problem);
    }

    @Override
    public void consumed(int bytes) {
        asker.consumed(bytes);
    }
}

package dev.culvert.client.link;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.tls.KeyExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Stands before the response of an exchange, and reports the exchange's end once. Confined to the exchange's
 * loop.
 */
final class ObservedExchange implements ResponseSink {
    private static final int SWITCHING = 101;
    private static final String REQUEST_ID = "x-request-id";

    private final ResponseSink response;
    private final EndedExchange.Listener listener;
    private final String method;
    private final String target;
    private final String host;
    private final String requestId;
    private final long sinceNanos = System.nanoTime();
    private int status;
    private boolean reported;
    /** The address that accepted no connection, and why; empty: none. */
    private String notReached = "";

    private ObservedExchange(RelayRequest opened, ResponseSink response, EndedExchange.Listener listener) {
        Http2Headers head = opened.fields();
        this.response = response;
        this.listener = listener;
        this.method = Objects.toString(head.method(), "");
        this.target = Objects.toString(head.path() == null ? head.authority() : head.path(), "");
        this.host = Objects.toString(head.authority(), "");
        this.requestId = Objects.toString(head.get(REQUEST_ID), "");
    }

    /** Opens an exchange at {@code relay}. */
    static RequestSink open(RelayRequest request, ResponseSink response, Relay relay,
            EndedExchange.Listener listener) {
        var exchange = new ObservedExchange(request, response, listener);
        return new Caller(relay.open(request, exchange), exchange);
    }

    private void report(String reason) {
        if (!reported) {
            reported = true;
            listener.ended(
                    new EndedExchange(method, target, status, reason, System.nanoTime() - sinceNanos, host,
                            requestId));
        }
    }

    @Override
    public void opened() {
        notReached = "";
        response.opened();
    }

    @Override
    public void carriedBy(@Nullable KeyExchange tls) {
        response.carriedBy(tls);
    }

    @Override
    public void informational(Http2Headers head) {
        response.informational(head);
    }

    @Override
    public void times(int routerMicros, int upstreamMicros) {
        response.times(routerMicros, upstreamMicros);
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        status = number(head.status());
        response.head(head, ended);
        if (ended || status == SWITCHING) {
            report("");
        }
    }

    /** The pool has checked it; a failure here would leave the caller without a response. */
    private static int number(@Nullable CharSequence status) {
        try {
            return status == null ? 0 : Integer.parseInt(status, 0, status.length(), 10);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    @Override
    public void data(ByteBuf body) {
        response.data(body);
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        response.end(trailers);
        report("");
    }

    @Override
    public void notReached(String trouble) {
        notReached = trouble; // not for the server
    }

    @Override
    public void fail(Problem problem) {
        if (status == 0) {
            status = problem.cause().status();
        }
        response.fail(problem);
        report(notReached.isEmpty() ? problem.detail() : notReached);
    }

    @Override
    public void ending(Problem problem) {
        response.ending(problem);
    }

    @Override
    public void consumed(int bytes) {
        response.consumed(bytes);
    }

    /** The request, which the caller may cancel. */
    private record Caller(RequestSink request, ObservedExchange exchange) implements RequestSink {
        @Override
        public void data(ByteBuf body) {
            request.data(body);
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            request.end(trailers);
        }

        @Override
        public void cancel(Problem reason) {
            request.cancel(reason);
            exchange.report("the caller left");
        }

        @Override
        public void consumed(int bytes) {
            request.consumed(bytes);
        }
    }
}

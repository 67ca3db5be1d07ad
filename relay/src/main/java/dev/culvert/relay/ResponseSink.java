package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.tls.KeyExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** The asking side of an exchange, as the answerer calls it. See {@link Relay} for threads and order. */
public interface ResponseSink {
    /**
     * The request is forwarded to its answerer, after any wait. Called again when the request is sent again.
     */
    default void opened() {}

    /**
     * Reports what the connection that carries the request, to the next hop, agreed on; null: it has no TLS.
     * Called after {@link #opened}, or not at all. The last call counts.
     */
    default void carriedBy(@Nullable KeyExchange tls) {}

    /**
     * Reports the time that the hops behind spent on this exchange. Called just before {@link #head}, or not
     * at all.
     *
     * @param routerMicros microseconds until the upstream connection was available
     * @param upstreamMicros microseconds from then, or from the end of the request if that was later, to the
     *     response head
     */
    default void times(int routerMicros, int upstreamMicros) {}

    /**
     * An informational response (RFC 9110 §15.2) other than 101, any number of times before {@link #head}.
     */
    void informational(Http2Headers head);

    /**
     * The final response head ({@code :status} first, lower-case names, no hop-by-hop fields), or 101 for an
     * upgrade.
     *
     * @param ended whether the response has no body: {@code end} is not called then
     */
    void head(Http2Headers head, boolean ended);

    /** Response body bytes, to be forwarded at once. Takes ownership of {@code body}, also when it throws. */
    void data(ByteBuf body);

    /** The response is complete, with its trailers if it has any. */
    void end(@Nullable Http2Headers trailers);

    /**
     * Reports the address that accepted no connection, and why: {@code 127.0.0.1:3000 refused the
     * connection}. Called just before {@link #fail}, or not at all. For logs and terminals of this process
     * alone: callers and peers must not receive it.
     */
    default void notReached(String trouble) {}

    /**
     * The response will not be completed. Before {@link #head} the asker sends the problem as its response;
     * after it, the asker resets its stream.
     */
    void fail(Problem problem);

    /**
     * The connection between asker and answerer closes soon, and a response that is not complete by then
     * fails. An asker that can end its caller's stream cleanly does so and cancels.
     */
    default void ending(Problem problem) {}

    /** The answerer has passed on {@code bytes} of the request's body. The asker may send that many more. */
    void consumed(int bytes);
}

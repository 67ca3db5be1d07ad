package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** The asking side of an exchange, as its answerer sees it. See {@link Relay} for threads and order. */
public interface ResponseSink {
    /** The request leaves for where it is answered, after whatever it had to wait for; again, when it is sent again. */
    default void opened() {}

    /**
     * What the hops behind have spent on this exchange, told just before {@link #head}, or not at all.
     *
     * @param routerMicros until the upstream's connection was there
     * @param upstreamMicros from then, or from the end of a request that ended later, to the head
     */
    default void times(int routerMicros, int upstreamMicros) {}

    /** An informational response (RFC 9110 §15.2) other than 101, any number of times before {@link #head}. */
    void informational(Http2Headers head);

    /**
     * The final response head ({@code :status} first, lower-case names, no hop-by-hop fields), or 101 for an upgrade.
     *
     * @param ended whether the response has no body: {@code end} is not called any more
     */
    void head(Http2Headers head, boolean ended);

    /** Response body bytes, to be passed on at once. Takes ownership of {@code body}, also when it throws. */
    void data(ByteBuf body);

    /** The response is complete, with its trailers if there are any. */
    void end(@Nullable Http2Headers trailers);

    /** The response will not be completed. Before {@link #head} the problem is the answer; after it, the asker resets. */
    void fail(Problem problem);

    /**
     * The way between the two ends soon, and a response that is not complete by then fails: an asker that can tell its caller
     * so without damage does, and cancels.
     */
    default void ending(Problem problem) {}

    /** The answerer has passed on {@code bytes} of the request's body: the asker may send as many more. */
    void consumed(int bytes);
}

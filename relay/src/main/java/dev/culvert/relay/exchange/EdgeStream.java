package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.listen.Deadline;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The caller's side of one exchange, in the caller's protocol. Runs on the connection's event loop. Written
 * bytes are flushed at the end of the event-loop pass.
 */
public interface EdgeStream extends BodyStream {
    /**
     * The deadline of the exchange. It is closed with the exchange, or the connection's next exchange uses
     * it.
     */
    Deadline deadline();

    EdgeContext shared();

    @Override
    default Duration stallTimeout() {
        return shared().limits().responseStallTimeout();
    }

    /** The connection, which other exchanges may share. */
    Channel channel();

    // ---- the response ----

    /** The progress of the response. */
    ResponseProgress response();

    /** Writes an informational head, if the caller's protocol has them. */
    void informational(Http2Headers head);

    /** Writes the final head, which is valid, and records it in {@link #response}. */
    void head(Http2Headers head, boolean ended, boolean upgrade);

    /** Ends the response. Its body may end here. */
    void end(@Nullable Http2Headers trailers);

    /**
     * Writes a problem as the whole response.
     *
     * @param close whether the caller's later bytes cannot be parsed, or will not be read
     */
    void problem(Problem problem, CharSequence requestId, boolean close);

    /** Closes the caller's WebSocket, which is between two frames, because the upstream's side goes away. */
    void goAway();

    // ---- the request ----

    /** Bytes of the request's body were forwarded. The caller may send that many more. */
    void requestPassedOn(int bytes);

    /** Bytes of a request whose response is complete arrived and were dropped. */
    void requestDropped(int bytes);

    /**
     * The response is complete, the request is not.
     *
     * @return whether the exchange ends at once, because no exchange follows it or its rest is not needed to
     *     find the next one; if false, the rest is dropped and the exchange ends with it
     */
    boolean dropRequest();

    /**
     * Stops reading from the connection: the end of the request's body is unknown, so later requests cannot
     * be found.
     */
    void lastOfConnection();

    // ---- the end ----

    /** Resets the response, so that the caller sees it truncated, not complete. */
    void reset();

    /**
     * Ends a response whose head was sent because of {@code why}. The caller sees that it is not complete.
     *
     * @return whether the response's own protocol reported the failure in its trailers; if not, the stream
     *     was reset
     */
    boolean breakOff(Problem why);

    /** The exchange is over in both directions. */
    void finished();

    /** Closes the connection without a response. */
    void close();
}

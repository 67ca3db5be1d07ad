package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.listen.Deadline;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The caller's side of one exchange, in the form of the caller's protocol. Everything happens on the connection's event
 * loop; what is written leaves at the end of the event-loop pass.
 */
public interface EdgeStream extends BodyStream {
    /** Of the exchange: it is closed with it, or belongs to the next one. */
    Deadline deadline();

    EdgeContext shared();

    @Override
    default Duration stallTimeout() {
        return shared().limits().responseStallTimeout();
    }

    /** Its connection, which other exchanges may share. */
    Channel channel();

    // ---- the response ----

    /** How far the response has come. */
    ResponseProgress response();

    /** Writes an informational head, if the caller's protocol has such. */
    void informational(Http2Headers head);

    /** Writes the final head, a sound one, and notes it in {@link #response}. */
    void head(Http2Headers head, boolean ended, boolean upgrade);

    /** Ends the response, which may end here. */
    void end(@Nullable Http2Headers trailers);

    /**
     * Writes a problem as the whole response.
     *
     * @param close whether what the caller sends from now on can't be understood, or will not be read
     */
    void problem(Problem problem, CharSequence requestId, boolean close);

    /** Closes the caller's WebSocket, which is between two frames, because its end of the way goes. */
    void goAway();

    // ---- the request ----

    /** So many bytes of the request's body were passed on: as many more may come. */
    void requestPassedOn(int bytes);

    /** Bytes of a request came whose response is complete, and were dropped. */
    void requestDropped(int bytes);

    /**
     * The response is complete, the request is not.
     *
     * @return whether its rest will never come; else the exchange ends with it
     */
    boolean dropRequest();

    /** What follows on this connection can't be told from the request's body: nothing is read any more. */
    void lastOfConnection();

    // ---- the end ----

    /** Drops it so that the caller sees a truncated response, never one that looks complete. */
    void reset();

    /**
     * Ends a response whose head was sent because of {@code why}, so that the caller sees that it is not complete.
     *
     * @return whether the response's own protocol says so in its trailers; else the stream was reset
     */
    boolean breakOff(Problem why);

    /** The exchange is over in both directions. */
    void finished();

    /** Drops it without a word. */
    void close();
}

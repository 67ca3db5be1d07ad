package dev.culvert.server.edge;

import dev.culvert.edge.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * The caller's side of one exchange, in the form of the caller's protocol. Everything happens on the connection's event
 * loop; what is written leaves at the end of the event-loop pass.
 */
interface EdgeStream {
    EventLoop loop();

    /** Of the exchange: it is closed with it, or belongs to the next one. */
    Deadline deadline();

    EdgeListener.Shared shared();

    // ---- the response ----

    /** Whether the final head was written. */
    boolean isHeadSent();

    /** Whether the request became a WebSocket: both bodies are raw bytes. */
    boolean isUpgraded();

    /** The status code of the final head; 0 before it. */
    int status();

    /** Writes an informational head, if the caller's protocol has such. */
    void informational(Http2Headers head);

    /**
     * Whether this head can be said in one way only. Runtimes are not trusted with the connection: another runtime's answer
     * may follow on it.
     *
     * @param upgrade whether the request asked for an upgrade: 101 is an answer to it
     */
    boolean canWrite(Http2Headers head, boolean ended, boolean upgrade);

    /** Writes the final head, one that {@link #canWrite}. */
    void head(Http2Headers head, boolean ended, boolean upgrade);

    /** Writes body bytes. Takes ownership of {@code body}. False when they are more than the head said. */
    boolean data(ByteBuf body);

    /** Ends the response. False when bytes are missing that the head said. */
    boolean end(@Nullable Http2Headers trailers);

    /**
     * Writes a problem as the whole response.
     *
     * @param close whether what the caller sends from now on can't be understood, or will not be read
     */
    void problem(Problem problem, CharSequence requestId, boolean close);

    /**
     * Closes the caller's WebSocket because its end of the way goes, if a frame may stand here.
     *
     * @return whether it was done
     */
    boolean goAway();

    /** The body bytes that the caller's socket has taken since the last call. */
    int passedOn();

    /** The body bytes that no call has reported yet, taken or not: nobody waits for them any more. */
    int rest();

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

    /** The exchange is over in both directions. */
    void finished();

    /** Drops it without a word. */
    void close();
}

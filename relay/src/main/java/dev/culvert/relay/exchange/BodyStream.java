package dev.culvert.relay.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.time.Duration;

/**
 * Writes bytes to a caller: the body of a response, or one direction of a raw connection. Belongs to the
 * connection's event loop.
 */
public interface BodyStream {
    EventLoop loop();

    /** The maximum time for which the caller may accept none of the waiting bytes; zero: unlimited. */
    Duration stallTimeout();

    /**
     * Writes bytes. The caller of this method has checked that the response allows them here. Takes ownership
     * of {@code body}.
     */
    void data(ByteBuf body);

    /** Returns the number of bytes that the caller's socket has accepted since the last call. */
    int passedOn();

    /** Returns the number of bytes that {@link #passedOn} has not returned yet, accepted or not. */
    int rest();

    /** Runs {@code then} after the next flush, or now if the bytes are flushed by themselves. */
    default void whenFlushed(Runnable then) {
        then.run();
    }

    /** Runs {@code then} when all written bytes were sent, or never will be. */
    void whenWritten(Runnable then);
}

package dev.culvert.relay.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.time.Duration;

/** What takes bytes for a caller: the body of a response, or one direction of a raw connection. On the connection's event loop. */
public interface BodyStream {
    EventLoop loop();

    /** How long the caller may take nothing of what waits for it; zero: as long as it likes. */
    Duration stallTimeout();

    /** Writes bytes that may stand here. Takes ownership of {@code body}. */
    void data(ByteBuf body);

    /** The bytes that the caller's socket has taken since the last call. */
    int passedOn();

    /** The bytes that no call has reported yet, taken or not: nobody waits for them any more. */
    int rest();

    /** Runs {@code then} when all that was written has left, or never will. */
    void whenWritten(Runnable then);
}

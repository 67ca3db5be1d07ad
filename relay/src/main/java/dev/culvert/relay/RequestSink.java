package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** The answering side of an exchange, as the asker calls it. See {@link Relay} for threads and order. */
public interface RequestSink {
    /** Sends request body bytes. Takes ownership of {@code body}, also when it throws. */
    void data(ByteBuf body);

    /** Ends the request, with its trailers if it has any. */
    void end(@Nullable Http2Headers trailers);

    /**
     * The asker cancels, because its caller disconnected or broke a rule. The response sink receives no more
     * calls.
     */
    void cancel(Problem reason);

    /** The asker has passed on {@code bytes} of the response's body. The answerer may send that many more. */
    void consumed(int bytes);
}

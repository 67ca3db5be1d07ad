package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** The answering side of an exchange, as its asker sees it. See {@link Relay} for threads and order. */
public interface RequestSink {
    /** Sends request body bytes. Takes ownership of {@code body}, also when it throws. */
    void data(ByteBuf body);

    /** Ends the request, with its trailers if there are any. */
    void end(@Nullable Http2Headers trailers);

    /** The asker gives up: its caller went away, or broke a rule. Nothing more is sent to its response sink. */
    void cancel(Problem reason);

    /** The asker has passed on {@code bytes} of the response's body: the answerer may send as many more. */
    void consumed(int bytes);
}

package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Takes what still comes for an exchange that has failed. */
public final class SwallowingSink implements RequestSink {
    /** There is nothing to tell one from another. */
    public static final RequestSink INSTANCE = new SwallowingSink();

    private SwallowingSink() {}

    @Override
    public void data(ByteBuf body) {
        body.release();
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {}

    @Override
    public void cancel(Problem reason) {}

    @Override
    public void consumed(int bytes) {}
}

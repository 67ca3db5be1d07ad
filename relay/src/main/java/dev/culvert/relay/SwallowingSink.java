package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Releases the body buffers of an exchange that has failed, and ignores all other calls. */
public final class SwallowingSink implements RequestSink {
    /** The only instance; it has no state. */
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

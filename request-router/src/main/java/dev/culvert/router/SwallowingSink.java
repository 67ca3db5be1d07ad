package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Takes what still comes for an exchange that has failed. */
final class SwallowingSink implements RequestSink {
    static final RequestSink INSTANCE = new SwallowingSink();

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

package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.handler.ssl.SslContext;
import org.jspecify.annotations.Nullable;

/** Reads the beginning of a response, and nothing more. */
final class StalledCaller extends Http1Caller {
    private boolean stalled;

    StalledCaller(Load load, @Nullable SslContext tls) {
        super(load, tls);
    }

    /** What has begun to arrive is not waited for. */
    @Override
    boolean isSilentSince(long time) {
        return !stalled && super.isSilentSince(time);
    }

    @Override
    void received(ByteBuf part) {
        super.received(part);
        stalled = true;
        stall();
    }

    @Override
    void whole() {
        failed("the response was too short to be stalled");
    }
}

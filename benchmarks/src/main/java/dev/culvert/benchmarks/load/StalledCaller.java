package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.handler.ssl.SslContext;
import org.jspecify.annotations.Nullable;

/** Reads the beginning of a response, and nothing more. */
final class StalledCaller extends Http1Caller {
    StalledCaller(Load load, @Nullable SslContext tls) {
        super(load, tls);
    }

    /** It is not waited for. */
    @Override
    boolean isSilentSince(long time) {
        return false;
    }

    @Override
    void received(ByteBuf part) {
        super.received(part);
        stall();
    }

    @Override
    void whole() {
        failed("the response was too short to be stalled");
    }
}

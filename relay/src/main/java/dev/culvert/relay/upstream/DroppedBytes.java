package dev.culvert.relay.upstream;

import io.netty.channel.EventLoop;
import java.util.function.IntConsumer;

/**
 * Reports dropped request bytes as consumed. It does so on the next pass of the loop, because the asker may
 * respond with more bytes.
 */
public final class DroppedBytes {
    private final EventLoop loop;
    private final IntConsumer told;
    private int bytes;

    /** @param told receives the bytes since its last call, on the loop */
    public DroppedBytes(EventLoop loop, IntConsumer told) {
        this.loop = loop;
        this.told = told;
    }

    public void add(int more) {
        if (bytes == 0) {
            loop.execute(this::tell);
        }
        bytes += more;
    }

    private void tell() {
        int all = bytes;
        bytes = 0;
        told.accept(all);
    }
}

package dev.culvert.relay.upstream;

import io.netty.channel.EventLoop;
import java.util.function.IntConsumer;

/** Reports request bytes that were dropped. A pass of the loop later: the asker may answer with more of them. */
public final class DroppedBytes {
    private final EventLoop loop;
    private final IntConsumer told;
    private int bytes;

    /** @param told on the loop, with the bytes since the last time */
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

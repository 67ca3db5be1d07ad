package dev.culvert.relay.quota;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.util.internal.PlatformDependent;

/** Netty's direct memory in this process, in bytes. */
public final class DirectMemory {
    private DirectMemory() {}

    /** The maximum of the JVM. */
    public static long max() {
        return PlatformDependent.maxDirectMemory();
    }

    /** What the default allocator has taken from the system, or 0 if it does not tell. */
    public static long used() {
        return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator
                ? allocator.metric().usedDirectMemory()
                : 0;
    }

    /** Whether less than a quarter is left. */
    public static boolean isShort() {
        return used() >= max() - max() / 4;
    }
}

package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** The bytes of all bodies. They can't be compressed well, as those of images and archives can't. */
final class Body {
    static final int PART = 64 << 10;
    private static final ByteBuf BYTES = Unpooled.unreleasableBuffer(bytes());

    private Body() {}

    private static ByteBuf bytes() {
        ByteBuf bytes = Unpooled.directBuffer(PART);
        var random = new java.util.Random(1);
        byte[] some = new byte[PART];
        random.nextBytes(some);
        return bytes.writeBytes(some).asReadOnly();
    }

    /** A part of a body; at most {@link #PART}. */
    static ByteBuf part(long left) {
        return BYTES.retainedSlice(0, (int) Math.min(PART, left));
    }
}

package dev.culvert.handlers.body;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.ZlibWrapper;
import java.util.function.Predicate;

/**
 * Expands a body with {@code Content-Encoding: gzip} (RFC 1952), part by part. A part of the result has at
 * most about a MiB, so that who receives it can stop before a small body has become a large one. Safe for use
 * by any thread.
 */
final class Gunzip {
    /** Deflate expands to at most 1,032 times the size. */
    private static final int SLICE = 1 << 10;
    /** The approximate memory of zlib and its window, which is neither heap nor direct memory. */
    static final int BYTES = 48 << 10;

    private final JdkZlibDecoder decoder = new JdkZlibDecoder(ZlibWrapper.GZIP, 0);
    private final EmbeddedChannel channel = new EmbeddedChannel(decoder);
    private boolean closed;

    /**
     * Expands a part, which stays the caller's. After {@link #close} nothing.
     *
     * @param out receives what it expands to, and returns whether it wants more; releases nothing
     * @throws io.netty.handler.codec.compression.DecompressionException the body is not gzip
     */
    synchronized void expand(ByteBuf part, Predicate<ByteBuf> out) {
        boolean wanted = !closed;
        while (wanted && part.isReadable()) {
            channel.writeInbound(part.readRetainedSlice(Math.min(SLICE, part.readableBytes())));
            for (ByteBuf next = channel.readInbound(); next != null; next = channel.readInbound()) {
                wanted = wanted && out.test(next);
                next.release();
            }
        }
    }

    /** Whether the end of the body has been expanded. */
    synchronized boolean isComplete() {
        return decoder.isClosed();
    }

    /** Frees its memory. Again: nothing. */
    synchronized void close() {
        if (!closed) {
            closed = true;
            try {
                channel.finishAndReleaseAll();
            } catch (DecoderException e) {
                // Bytes that are not gzip are decoded once more, and refused again.
            }
        }
    }
}

package dev.culvert.handlers.body;

import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Collections;
import java.util.List;
import reactor.core.publisher.Flux;

/**
 * A complete body in memory, which counts for its account until it is closed. It is never shed for other
 * accounts.
 */
public final class HeldBody implements AutoCloseable {
    private final List<byte[]> blocks;
    private final int size;
    private final Quota<Object>.Claim claim;

    /** @param size the length of the body in bytes; all blocks except the last are full */
    HeldBody(List<byte[]> blocks, int size, Quota<Object>.Claim claim) {
        this.blocks = blocks;
        this.size = size;
        this.claim = claim;
    }

    /** The size in bytes. */
    public int size() {
        return size;
    }

    /** Opens a new stream at the begin of the body. */
    public InputStream stream() {
        int[] left = {size};
        List<InputStream> parts = blocks.stream().<InputStream>map(block -> {
            int length = Math.min(block.length, left[0]);
            left[0] -= length;
            return new ByteArrayInputStream(block, 0, length);
        }).toList();
        return new SequenceInputStream(Collections.enumeration(parts));
    }

    /**
     * The body in parts that share its memory. The body is closed when all parts are emitted or the
     * subscriber cancels. Subscribe once.
     */
    public Flux<ByteBuf> parts() {
        return Flux.range(0, blocks.size()).map(this::part).doFinally(signal -> close());
    }

    private ByteBuf part(int index) {
        byte[] block = blocks.get(index);
        int behind = blocks.stream().limit(index + 1L).mapToInt(each -> each.length).sum() - size;
        return Unpooled.wrappedBuffer(block, 0, block.length - Math.max(0, behind));
    }

    /** Counts bytes that are derived from the body, in addition to it. */
    public void charge(long bytes) {
        claim.take(bytes);
    }

    /** Frees the memory. A repeated call has no effect. */
    @Override
    public void close() {
        claim.close();
    }
}

package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.HandlerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/** The JSON of an answer, counted block by block as it is written. Used by one thread at a time. */
final class AnswerBytes extends OutputStream {
    private static final int FIRST_BLOCK = 1 << 10;
    private static final int LARGEST_BLOCK = 64 << 10;

    private final AnswerBudget budget;
    private final List<byte[]> blocks = new ArrayList<>(2);
    /** The number of free bytes in the last block. */
    private int free;
    private int size;
    private long held;

    AnswerBytes(AnswerBudget budget) {
        this.budget = budget;
    }

    @Override
    public void write(int single) throws IOException {
        write(new byte[]{(byte) single}, 0, 1);
    }

    /** Throws IOException, with the HandlerException as its cause, when the budget refuses. */
    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int from = offset;
        int left = length;
        while (left > 0) {
            if (free == 0) {
                grow();
            }
            byte[] last = blocks.getLast();
            int part = Math.min(left, free);
            System.arraycopy(bytes, from, last, last.length - free, part);
            free -= part;
            size += part;
            from += part;
            left -= part;
        }
    }

    private void grow() throws IOException {
        int length = blocks.isEmpty() ? FIRST_BLOCK : Math.min(LARGEST_BLOCK, blocks.getLast().length * 2);
        try {
            budget.keep(length);
        } catch (HandlerException e) {
            throw new IOException(e); // what else is thrown here, the mapper wraps
        }
        blocks.add(new byte[length]);
        held += length;
        free = length;
    }

    /** The number of bytes written. */
    int size() {
        return size;
    }

    /** The bytes of its blocks. */
    long held() {
        return held;
    }

    /** The bytes as one buffer that shares their memory. */
    ByteBuf whole() {
        return Unpooled.wrappedBuffer(blocks.toArray(byte[][]::new)).slice(0, size);
    }

    /** The bytes in parts that share their memory. */
    Flux<ByteBuf> parts() {
        return Flux.range(0, blocks.size()).map(index -> {
            byte[] block = blocks.get(index);
            int behind = index == blocks.size() - 1 ? free : 0;
            return Unpooled.wrappedBuffer(block, 0, block.length - behind);
        });
    }
}

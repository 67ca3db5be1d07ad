package dev.culvert.inbox.dispatch;

import dev.culvert.inbox.model.WebhookBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads a stored body piece by piece. Belongs to its attempt's event loop; one read at a time. */
abstract sealed class BodySource {
    private static final int CHUNK = 32 << 10;

    /** Returns the body of {@code content} for one attempt. {@code files} runs the blocking reads. */
    static BodySource of(WebhookBody content, Executor files) {
        byte[] body = content.body;
        Path spool = content.spool;
        return spool == null || body != null
                ? new InMemory(body == null ? new byte[0] : body)
                : new Spooled(spool, content.size, files);
    }

    abstract long size();

    /** Whether the whole body was read. */
    abstract boolean isAtEnd();

    /**
     * Reads the next piece. {@code then} runs on {@code loop}, possibly before this returns, and owns the
     * piece.
     */
    abstract void read(EventLoop loop, Consumer<ByteBuf> then, Consumer<IOException> failed);

    /** Closes the source. No read may be in progress. */
    abstract void close();

    private static final class InMemory extends BodySource {
        private final byte[] body;
        private boolean read;

        InMemory(byte[] body) {
            this.body = body;
            this.read = body.length == 0;
        }

        @Override
        long size() {
            return body.length;
        }

        @Override
        boolean isAtEnd() {
            return read;
        }

        @Override
        void read(EventLoop loop, Consumer<ByteBuf> then, Consumer<IOException> failed) {
            read = true;
            then.accept(Unpooled.wrappedBuffer(body));
        }

        @Override
        void close() {}
    }

    private static final class Spooled extends BodySource {
        private final Path file;
        private final long size;
        private final Executor files;
        private @Nullable FileChannel channel;
        private long position;

        Spooled(Path file, long size, Executor files) {
            this.file = file;
            this.size = size;
            this.files = files;
        }

        @Override
        long size() {
            return size;
        }

        @Override
        boolean isAtEnd() {
            return position >= size;
        }

        @Override
        void read(EventLoop loop, Consumer<ByteBuf> then, Consumer<IOException> failed) {
            try {
                files.execute(() -> {
                    try {
                        ByteBuf chunk = next();
                        loop.execute(() -> then.accept(chunk));
                    } catch (IOException e) {
                        loop.execute(() -> failed.accept(e));
                    }
                });
            } catch (RejectedExecutionException full) {
                failed.accept(new IOException("too many files are read at once", full));
            }
        }

        private ByteBuf next() throws IOException {
            FileChannel from = channel;
            if (from == null) {
                from = FileChannel.open(file, StandardOpenOption.READ);
                channel = from;
            }
            int length = (int) Math.min(CHUNK, size - position);
            ByteBuf chunk = ByteBufAllocator.DEFAULT.buffer(length);
            while (chunk.readableBytes() < length) {
                if (chunk.writeBytes(from, position + chunk.readableBytes(),
                        length - chunk.readableBytes()) < 0) {
                    chunk.release();
                    throw new EOFException("the spool file is shorter than its row says");
                }
            }
            position += length;
            return chunk;
        }

        @Override
        void close() {
            FileChannel from = channel;
            if (from != null) {
                channel = null;
                try {
                    files.execute(() -> closeQuietly(from));
                } catch (RejectedExecutionException stopping) {
                    closeQuietly(from);
                }
            }
        }

        private static void closeQuietly(FileChannel channel) {
            try {
                channel.close();
            } catch (IOException nothingToBeDone) {
                // The file was only read.
            }
        }
    }
}

package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Blobs;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Repository;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Schedulers;

/**
 * The files on their way to callers of the raw endpoint. Each has a copy on the disk, so that a slow caller
 * keeps neither the repository, nor a thread, nor memory. Their number is bounded and shared by account: the
 * newest of the account with most gives way to others, or one whose caller has taken nothing for a while.
 * Callable from any thread.
 */
final class RawReads {
    /** The size of the parts of a body. */
    private static final int PART_BYTES = 32 << 10;

    /** After this time without progress a read gives way to others. */
    private static final Duration GIVES_WAY = Duration.ofSeconds(20);

    /** After this time without progress a read ends. */
    private static final Duration ENDS = Duration.ofMinutes(2);
    private static final Duration RETRY = Duration.ofSeconds(1);

    /** The bytes in memory for each byte of a file that Git stores as a difference to another. */
    private static final int MEMORY_FACTOR = 2;
    private static final long MEMORY_BYTES = 64L << 20;

    private final Path folder;
    private final long maxBytes;
    private final Quota<Object> places;
    private final Quota<Object> memory;

    /** @param folder for the copies, which have no name: an end of the process leaves none */
    RawReads(Path folder, long maxBytes, int maxReads) {
        this.folder = folder;
        this.maxBytes = maxBytes;
        this.places = new Quota<>(maxReads);
        this.memory = new Quota<>(Math.max(MEMORY_BYTES, MEMORY_FACTOR * maxBytes));
    }

    /**
     * Begins a read, which the caller closes. Throws HandlerException OVERLOADED when all places are taken by
     * others with no more of them.
     *
     * @param known whether the caller has the file in this state
     * @param content whether the caller wants more than the size
     */
    Read open(Object account, Predicate<String> known, boolean content) {
        var read = new Read(account, known, content);
        Quota<Object>.Claim place = places.tryOpen(account, 1, read::giveWay, GIVES_WAY.toNanos());
        if (place == null) {
            throw busy();
        }
        read.begin(place);
        return read;
    }

    /** The number of reads in progress. */
    long open() {
        return places.used();
    }

    private static HandlerException busy() {
        return HandlerException.of(Reason.OVERLOADED, "too many files are being read").retryAfter(RETRY);
    }

    /** One file for one caller. Closing it frees its place and its copy; a repeated call has no effect. */
    final class Read implements AutoCloseable {
        private final Object account;
        private final Predicate<String> known;
        private final boolean content;
        private final Sinks.Empty<Void> cut = Sinks.empty();
        private volatile long movedNanos = System.nanoTime();
        private volatile boolean answered;
        private volatile boolean closed;
        /** Guarded by this. */
        private Quota<Object>.@Nullable Claim place;
        private volatile @Nullable FileChannel copy;
        private @Nullable Disposable watch;

        Read(Object account, Predicate<String> known, boolean content) {
            this.account = account;
            this.known = known;
            this.content = content;
        }

        private synchronized void begin(Quota<Object>.Claim taken) {
            place = taken;
            long seconds = ENDS.toSeconds() / 4;
            watch = Schedulers.parallel()
                    .schedulePeriodically(this::look, seconds, seconds, TimeUnit.SECONDS);
            if (closed) {
                free();
            }
        }

        /** Whether the caller has the file in this state. */
        boolean knows(ObjectId blob) {
            return known.test(blob.name());
        }

        /**
         * Copies a blob, if the caller wants its content. Returns its size. Blocks. Throws HandlerException:
         * BODY_TOO_LARGE, OVERLOADED.
         */
        long receive(Repository objects, ObjectId blob) throws IOException {
            long size = Blobs.size(objects, blob);
            if (size > maxBytes) {
                throw HandlerException.of(Reason.BODY_TOO_LARGE, "the file has " + size + " bytes; at most "
                        + maxBytes + " are sent (handlers.commits.maxRawBytes)");
            }
            if (content) {
                Quota<Object>.Claim claim = memory.tryOpen(account, Math.max(1, MEMORY_FACTOR * size), null);
                if (claim == null) {
                    throw busy();
                }
                try (claim; OutputStream to = new Copy(created())) {
                    Blobs.copy(objects, blob, to);
                }
            }
            return size;
        }

        private FileChannel created() throws IOException {
            FileChannel made = FileChannel.open(folder.resolve("raw-" + UUID.randomUUID()),
                    StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE);
            synchronized (this) {
                if (!closed) {
                    copy = made;
                    return made;
                }
            }
            made.close();
            throw busy();
        }

        /** The copy, read at the pace of its subscriber. Subscribe once. */
        Flux<ByteBuf> parts() {
            return Flux.generate(() -> 0L, this::part);
        }

        private long part(long position, SynchronousSink<ByteBuf> sink) {
            moved();
            FileChannel from = copy;
            if (from == null) {
                sink.complete();
                return position;
            }
            ByteBuf part = ByteBufAllocator.DEFAULT.buffer(PART_BYTES);
            try {
                int length = part.writeBytes(from, position, PART_BYTES);
                if (length > 0) {
                    sink.next(part);
                    return position + length;
                }
                part.release();
                sink.complete();
            } catch (ClosedChannelException e) {
                part.release();
                sink.complete(); // the read has ended, and its response with it
            } catch (IOException e) {
                part.release();
                sink.error(e);
            }
            return position;
        }

        /** Fails when the read must end early. */
        Mono<Void> cut() {
            return cut.asMono();
        }

        /**
         * From now on a response owns the read. Returns its hold, which ends the read when it is cancelled,
         * and fails when the response must end early.
         */
        Mono<Void> answered() {
            answered = true;
            return cut().doFinally(signal -> close());
        }

        /** Closes the read, unless a response owns it. */
        void unlessAnswered() {
            if (!answered) {
                close();
            }
        }

        private void moved() {
            movedNanos = System.nanoTime();
            Quota<Object>.Claim taken;
            synchronized (this) {
                taken = place;
            }
            if (taken != null) {
                taken.touch();
            }
        }

        private void look() {
            if (System.nanoTime() - movedNanos > ENDS.toNanos()) {
                giveWay();
            }
        }

        private void giveWay() {
            close();
            cut.tryEmitError(busy());
        }

        @Override
        public void close() {
            synchronized (this) {
                closed = true;
                free();
            }
        }

        private void free() {
            if (watch != null) {
                watch.dispose();
            }
            if (place != null) {
                place.close();
            }
            try {
                FileChannel made = copy;
                if (made != null) {
                    made.close();
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException("a file without a name closes", e);
            }
        }
    }

    /** Writes to a file. Refuses to go on when that was closed. */
    private static final class Copy extends OutputStream {
        private final FileChannel file;

        Copy(FileChannel file) {
            this.file = file;
        }

        @Override
        public void write(int single) throws IOException {
            write(new byte[]{(byte) single}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            ByteBuffer left = ByteBuffer.wrap(bytes, offset, length);
            try {
                while (left.hasRemaining()) {
                    file.write(left);
                }
            } catch (ClosedChannelException e) {
                throw busy();
            }
        }
    }
}

package dev.culvert.handlers.body;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;

/**
 * Reads request bodies into memory. Only received bytes count for an account, not an announced length. Small
 * parts are merged. When the memory is used up, the newest body of the heaviest account is shed (503). A body
 * that does not arrive within its {@link Patience} is dropped (408). Safe for use by any thread.
 */
public final class BodyIntake {
    /**
     * The cost of a request that has sent no byte of its body: its head, and the objects that wait for the
     * body.
     */
    public static final int REQUEST_BYTES = 16 << 10;

    private static final int FIRST_BLOCK = 1 << 10;
    private static final int LARGEST_BLOCK = 64 << 10;
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(1);

    private final Quota<Object> memory;
    private final Scheduler clock;

    /**
     * @param memory the memory in bytes; any value that identifies a caller may be the account. Complete
     *     bodies are never shed, so one account may hold at most half of the memory
     * @param clock the source of time, which also runs the time-outs; never blocked
     */
    public BodyIntake(Quota<Object> memory, Scheduler clock) {
        this.memory = memory;
        this.clock = clock;
    }

    /**
     * Reads a body. The receiver of the result closes it. Cancelling drops the body. Errors: HandlerException
     * BODY_TOO_LARGE as soon as more than {@code maxBytes} have arrived, OVERLOADED, REQUEST_TIMEOUT, and the
     * errors of {@code body}. Never empty.
     */
    public Mono<HeldBody> read(Flux<ByteBuf> body, Object account, int maxBytes) {
        return read(body, account, maxBytes, false);
    }

    /**
     * As {@link #read(Flux, Object, int)}, for a body with {@code Content-Encoding: gzip}. The result is the
     * content; memory and {@code maxBytes} count that. Also BAD_REQUEST: it is not gzip.
     */
    public Mono<HeldBody> readGzip(Flux<ByteBuf> body, Object account, int maxBytes) {
        return read(body, account, maxBytes, true);
    }

    private Mono<HeldBody> read(Flux<ByteBuf> body, Object account, int maxBytes, boolean gzip) {
        return Mono.create(sink -> {
            var arriving = new Arriving(account, maxBytes, sink, gzip);
            sink.onCancel(arriving::giveUp);
            arriving.begin(body);
        });
    }

    private static HandlerException full() {
        return HandlerException.of(Reason.OVERLOADED, "too many bytes of requests are being served")
                .retryAfter(RETRY_WHEN_FULL);
    }

    private final class Arriving extends BaseSubscriber<ByteBuf> {
        private final Object account;
        private final int maxBytes;
        private final MonoSink<HeldBody> sink;
        private final boolean gzip;
        /** From the first byte on. */
        private volatile @Nullable Gunzip gunzip;
        private final Quota<Object>.Claim claim;
        private final AtomicBoolean ended = new AtomicBoolean();
        private final long began = clock.now(TimeUnit.NANOSECONDS);
        private final List<byte[]> blocks = new ArrayList<>(2);
        /** The number of free bytes in the last block. */
        private int free;
        private final AtomicInteger size = new AtomicInteger();
        private volatile @Nullable Disposable timer;
        private volatile @Nullable HeldBody whole;
        private volatile boolean givenUp;

        Arriving(Object account, int maxBytes, MonoSink<HeldBody> sink, boolean gzip) {
            this.gzip = gzip;
            this.account = account;
            this.maxBytes = maxBytes;
            this.sink = sink;
            this.claim = memory.open(account, () -> fail(full()));
        }

        void begin(Flux<ByteBuf> body) {
            if (!claim.tryTake(gzip ? REQUEST_BYTES + Gunzip.BYTES : REQUEST_BYTES)) {
                fail(full());
                return;
            }
            look();
            body.subscribe(this);
        }

        /** Fails the body if its time is over, else schedules the next check for the earliest time-out. */
        private void look() {
            var patience = new Patience();
            patience.waited(clock.now(TimeUnit.NANOSECONDS) - began);
            patience.moved(size.get());
            if (patience.leftNanos() <= 0) {
                fail(HandlerException.of(Reason.REQUEST_TIMEOUT, "the body did not arrive in time"));
                return;
            }
            timer = clock.schedule(this::look, patience.leftNanos(), TimeUnit.NANOSECONDS);
            if (ended.get()) {
                stopTimer();
            }
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            if (ended.get()) {
                subscription.cancel();
            } else {
                subscription.request(Long.MAX_VALUE);
            }
        }

        @Override
        protected void hookOnNext(ByteBuf part) {
            try {
                if (!ended.get()) {
                    expand(part);
                }
            } finally {
                part.release();
            }
        }

        private void expand(ByteBuf part) {
            if (!gzip) {
                add(part);
                return;
            }
            Gunzip expanding = gunzip;
            if (expanding == null) {
                expanding = new Gunzip();
                gunzip = expanding;
            }
            try {
                expanding.expand(part, content -> {
                    add(content);
                    return !ended.get();
                });
            } catch (DecoderException e) {
                fail(GzipBody.noGzip());
            }
        }

        private void add(ByteBuf part) {
            if (part.readableBytes() > maxBytes - size.get()) {
                fail(HandlerException.of(Reason.BODY_TOO_LARGE,
                        "the body is larger than " + maxBytes + " bytes"));
                return;
            }
            while (part.isReadable()) {
                if (free == 0 && !grow()) {
                    fail(full());
                    return;
                }
                byte[] last = blocks.getLast();
                int length = Math.min(free, part.readableBytes());
                part.readBytes(last, last.length - free, length);
                free -= length;
                size.addAndGet(length);
            }
        }

        private boolean grow() {
            int length = blocks.isEmpty()
                    ? FIRST_BLOCK
                    : Math.min(LARGEST_BLOCK, blocks.getLast().length * 2);
            if (!claim.tryTake(length)) {
                return false;
            }
            blocks.add(new byte[length]);
            free = length;
            return true;
        }

        @Override
        protected void hookOnComplete() {
            Gunzip expanded = gunzip;
            if (gzip && (expanded == null || !expanded.isComplete())) {
                fail(GzipBody.noGzip());
                return;
            }
            if (!ended.compareAndSet(false, true)) {
                return;
            }
            stopTimer();
            long held = REQUEST_BYTES; // not claim.held(): the claim may have been shed just now
            for (byte[] block : blocks) {
                held += block.length;
            }
            claim.close();
            Quota<Object>.Claim taken = memory.open(account, null);
            taken.take(held);
            if (taken.heldByAccount() > memory.max() / 2) {
                taken.close();
                sink.error(full());
                return;
            }
            var body = new HeldBody(blocks, size.get(), taken);
            whole = body;
            if (givenUp) {
                body.close();
            }
            sink.success(body);
        }

        @Override
        protected void hookOnError(Throwable error) {
            fail(error);
        }

        @Override
        protected void hookFinally(SignalType type) {
            stopTimer();
            Gunzip expanded = gunzip;
            if (expanded != null) {
                expanded.close();
            }
        }

        private void fail(Throwable error) {
            if (ended.compareAndSet(false, true)) {
                stopTimer();
                claim.close();
                cancel();
                sink.error(error);
            }
        }

        /** The subscriber has cancelled and does not receive the body. */
        void giveUp() {
            givenUp = true;
            HeldBody untaken = whole;
            if (untaken != null) {
                untaken.close();
            }
            if (ended.compareAndSet(false, true)) {
                stopTimer();
                claim.close();
                cancel();
            }
        }

        private void stopTimer() {
            Disposable running = timer;
            if (running != null) {
                running.dispose();
            }
        }
    }
}

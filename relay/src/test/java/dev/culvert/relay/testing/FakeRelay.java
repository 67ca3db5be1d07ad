package dev.culvert.relay.testing;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A runtime that a test plays: keeps what it is asked, answers what the test says. */
public final class FakeRelay implements Relay {
    private final BlockingQueue<Exchange> opened = new LinkedBlockingQueue<>();
    public final List<Exchange> all = new CopyOnWriteArrayList<>();
    /** What happens to each exchange at once, before {@link #open} returns. */
    private volatile Consumer<Exchange> first = exchange -> {};

    /** Answers exchanges at once from now on. */
    public void answer(Consumer<Exchange> answer) {
        first = answer;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Exchange exchange = new Exchange(request, response);
        all.add(exchange);
        response.opened();
        first.accept(exchange);
        opened.add(exchange);
        return exchange;
    }

    /** The next exchange that was opened; waits for it. */
    public Exchange next() throws InterruptedException {
        return Objects.requireNonNull(opened.poll(10, TimeUnit.SECONDS), "no exchange was opened");
    }

    /** One exchange. The methods of a test may be called on any thread. */
    public static final class Exchange implements RequestSink {
        public final RelayRequest request;
        private final ResponseSink response;
        private final StringBuilder received = new StringBuilder();
        public final AtomicLong consumed = new AtomicLong();
        public final AtomicLong receivedBytes = new AtomicLong();
        /** Whether request bytes are reported as passed on when they arrive. */
        public volatile boolean eager = true;
        public volatile boolean ended;
        private final CountDownLatch end = new CountDownLatch(1);
        private volatile boolean failed;
        public volatile @Nullable Http2Headers trailers;
        public volatile @Nullable Problem cancelled;

        private Exchange(RelayRequest request, ResponseSink response) {
            this.request = request;
            this.response = response;
            this.ended = request.ended();
        }

        public String path() {
            return String.valueOf(request.fields().path());
        }

        public String body() {
            synchronized (received) {
                return received.toString();
            }
        }

        /** Whether neither side of the request is open any more. */
        public boolean isOver() {
            return ended || failed || cancelled != null;
        }

        /** Waits for the request's end. */
        public void awaitEnd() throws InterruptedException {
            if (!end.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the request did not end");
            }
        }

        // ---- answering ----

        /** Some time later tells what the hops behind have spent. */
        public Exchange times(int routerMicros, int upstreamMicros, Duration later) {
            return waitsFor(later).on(() -> response.times(routerMicros, upstreamMicros));
        }

        /** Time passes on the exchange's event loop. */
        public Exchange waitsFor(Duration time) {
            CountDownLatch over = new CountDownLatch(1);
            var _ = request.loop().schedule(over::countDown, time.toNanos(), TimeUnit.NANOSECONDS);
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return this;
        }

        public Exchange head(String status, boolean last, String... fields) {
            Http2Headers head = fields(fields).status(status);
            return on(() -> response.head(head, last));
        }

        public Exchange informational(String status) {
            return on(() -> response.informational(new DefaultHttp2Headers(false, 4).status(status)));
        }

        public Exchange body(String text) {
            return on(() -> response.data(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1)));
        }

        public Exchange body(int bytes) {
            return on(() -> response.data(request.loop().parent() == null
                    ? Unpooled.wrappedBuffer(new byte[bytes])
                    : Unpooled.directBuffer(bytes).writeZero(bytes)));
        }

        /** Takes ownership of {@code parts}. */
        public Exchange body(List<ByteBuf> parts) {
            return on(() -> parts.forEach(response::data));
        }

        public Exchange end(String... trailers) {
            return on(() -> response.end(trailers.length == 0 ? null : fields(trailers)));
        }

        public Exchange fail(Problem problem) {
            failed = true;
            return on(() -> response.fail(problem));
        }

        /** The way to the caller ends soon. */
        public Exchange ending(Problem problem) {
            return on(() -> response.ending(problem));
        }

        public Exchange passOn(int bytes) {
            return on(() -> response.consumed(bytes));
        }

        /** Answers 200 with a body of a known length. */
        public Exchange ok(String text) {
            return head("200", false, "content-length", String.valueOf(text.length())).body(text).end();
        }

        private static Http2Headers fields(String... namesAndValues) {
            Http2Headers fields = new DefaultHttp2Headers(false, 8);
            for (int i = 0; i < namesAndValues.length; i += 2) {
                fields.add(namesAndValues[i], namesAndValues[i + 1]);
            }
            return fields;
        }

        private Exchange on(Runnable action) {
            if (request.loop().inEventLoop()) {
                action.run();
            } else {
                request.loop().submit(action).syncUninterruptibly();
            }
            return this;
        }

        // ---- being asked ----

        @Override
        public void data(ByteBuf body) {
            int bytes = body.readableBytes();
            synchronized (received) {
                if (received.length() < 1 << 16) {
                    received.append(body.toString(StandardCharsets.ISO_8859_1));
                }
            }
            body.release();
            receivedBytes.addAndGet(bytes);
            if (eager && !isOver()) {
                response.consumed(bytes);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            this.trailers = trailers;
            ended = true;
            end.countDown();
        }

        @Override
        public void cancel(Problem reason) {
            cancelled = reason;
        }

        @Override
        public void consumed(int bytes) {
            consumed.addAndGet(bytes);
        }
    }
}

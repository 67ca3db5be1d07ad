package dev.culvert.benchmarks;

import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.route.DurableRoutes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Callers that post webhooks to an inbox. Each sends its next webhook after the response to its previous one.
 */
final class InboxStorm implements AutoCloseable {
    private static final int SOURCES = 32;
    /** The number of runtimes over which webhooks are spread, so that no quota is reached. */
    private static final int RUNTIMES = 64;

    private final Inbox inbox;
    private final EventLoopGroup loops;
    private final byte[] body;
    private final AtomicInteger next = new AtomicInteger();
    private final ConcurrentLinkedQueue<Long> took = new ConcurrentLinkedQueue<>();

    InboxStorm(Path folder, EventLoops own, int bytes, boolean deliver) {
        this.loops = own.onServer(true);
        this.body = new byte[bytes];
        this.inbox = Objects.requireNonNull(
                Inbox.open(new InboxSetup(folder, InboxConfig.defaults(), new Sources(deliver), loops,
                        new SimpleMeterRegistry(), Clock.systemUTC())).toFuture().join());
    }

    /** Runs the storm. Returns the response time of each webhook in nanoseconds. */
    long[] run(int callers, double seconds) {
        took.clear();
        long end = System.nanoTime() + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        var ended = new CountDownLatch(callers);
        for (int i = 0; i < callers; i++) {
            EventLoop loop = loops.next();
            loop.execute(() -> post(loop, end, ended));
        }
        try {
            ended.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return took.stream().mapToLong(Long::longValue).toArray();
    }

    private void post(EventLoop loop, long end, CountDownLatch ended) {
        long began = System.nanoTime();
        if (began >= end) {
            ended.countDown();
            return;
        }
        int number = next.getAndIncrement();
        Http2Headers fields = new DefaultHttp2Headers(false).method("POST")
                .scheme("https")
                .authority("h.example")
                .path("/webhooks/argo/source" + number % SOURCES + "/")
                .add("content-type", "application/json")
                .add("x-github-delivery", "delivery-" + number);
        var target = new InboxRelay.Target("runtime" + number % RUNTIMES, DurableRoutes.byDefault(),
                WebhookSecrets.NONE, Hop.EDGE);
        RequestSink sink = new InboxRelay(inbox.intake(), target, null, false,
                (request, response) -> new Source(response))
                .open(new RelayRequest(RelayRequest.Kind.HTTP, fields, false, loop), new Answered(() -> {
                    took.add(System.nanoTime() - began);
                    loop.execute(() -> post(loop, end, ended));
                }));
        sink.data(Unpooled.wrappedBuffer(body));
        sink.end(null);
    }

    static void remove(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Override
    public void close() {
        inbox.close().toFuture().join();
    }

    private record Answered(Runnable then) implements ResponseSink {
        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {
            if (ended) {
                then.run();
            }
        }

        @Override
        public void data(ByteBuf bytes) {
            bytes.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            then.run();
        }

        @Override
        public void fail(Problem problem) {
            throw new IllegalStateException("refused: " + problem.detail());
        }

        @Override
        public void consumed(int count) {}
    }

    /** Event sources that respond at once or are unreachable. */
    private record Sources(boolean there) implements Delivery {
        @Override
        public Relay relayTo(String runtimeId) {
            return (request, response) -> new Source(response);
        }

        @Override
        public boolean isReachable(String runtimeId) {
            return there;
        }
    }

    private record Source(ResponseSink response) implements RequestSink {
        @Override
        public void data(ByteBuf bytes) {
            bytes.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            response.head(new DefaultHttp2Headers(false).status("200"), true);
        }

        @Override
        public void cancel(Problem reason) {}

        @Override
        public void consumed(int count) {}
    }
}

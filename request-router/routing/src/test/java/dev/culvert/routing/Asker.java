package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;

/** The asking side of one exchange: counts, keeps the beginning of what it gets, and consumes it at once unless told not to. */
final class Asker implements ResponseSink {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int KEPT_BYTES = 1 << 20;

    private final EventLoop loop;
    private final Relay relay;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final CRC32 crc = new CRC32();
    final List<Http2Headers> informational = new CopyOnWriteArrayList<>();
    volatile @Nullable Http2Headers head;
    volatile @Nullable Http2Headers trailers;
    volatile @Nullable Problem problem;
    volatile boolean ended;
    volatile boolean stalled;
    final AtomicLong received = new AtomicLong();
    final AtomicLong requestConsumed = new AtomicLong();
    final AtomicLong requestGiven = new AtomicLong();
    private long unreported;
    private volatile @Nullable RequestSink sink;
    private @Nullable Runnable onConsumed;

    Asker(Relay relay, EventLoop loop) {
        this.relay = relay;
        this.loop = loop;
    }

    // ---- asking ----

    /** Opens a request without a body. */
    Asker get(String path, String... fields) {
        return open(Kind.HTTP, "GET", path, true, fields);
    }

    Asker open(Kind kind, String method, String path, boolean withoutBody, String... fields) {
        Http2Headers head = new DefaultHttp2Headers(false, 8).method(method)
                .scheme("https")
                .authority("caller.example")
                .path(path);
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        onLoop(() -> sink = relay.open(new RelayRequest(kind, head, withoutBody, loop), this));
        return this;
    }

    /** Opens a GET and gives it up at once. */
    void getAndCancel() {
        onLoop(() -> get("/").cancel());
    }

    Asker send(String text) {
        return send(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    Asker send(ByteBuf body) {
        onLoop(() -> {
            requestGiven.addAndGet(body.readableBytes());
            sink().data(body);
        });
        return this;
    }

    Asker finish() {
        return finish(null);
    }

    Asker finish(@Nullable Http2Headers trailers) {
        onLoop(() -> sink().end(trailers));
        return this;
    }

    Asker cancel() {
        onLoop(() -> sink().cancel(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "gone")));
        return this;
    }

    /** Sends a body of this many bytes in pieces, with at most 64 KiB not consumed, then ends it. */
    void upload(long bytes) {
        onLoop(() -> {
            onConsumed = () -> pump(bytes);
            pump(bytes);
        });
    }

    private void pump(long bytes) {
        while (requestGiven.get() < bytes && requestGiven.get() - requestConsumed.get() < 64 << 10) {
            int size = (int) Math.min(16 << 10, bytes - requestGiven.get());
            sink().data(piece(requestGiven.getAndAdd(size), size));
        }
        if (requestGiven.get() == bytes) {
            onConsumed = null;
            sink().end(null);
        }
    }

    private static ByteBuf piece(long from, int size) {
        return ByteBufAllocator.DEFAULT.buffer(size).writeBytes(pattern(from, size));
    }

    /** The bytes at a place of a long body. */
    static byte[] pattern(long from, int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) ((from + i) * 31 + ((from + i) >>> 10));
        }
        return bytes;
    }

    /** The checksum of a long body. */
    static long checksumOf(long bytes) {
        CRC32 crc = new CRC32();
        for (long from = 0; from < bytes; from += KEPT_BYTES) {
            crc.update(pattern(from, (int) Math.min(KEPT_BYTES, bytes - from)));
        }
        return crc.getValue();
    }

    /** Consumes what was left, and from now on everything. */
    void resume() {
        onLoop(() -> {
            stalled = false;
            report();
        });
    }

    // ---- waiting ----

    /** Looks at once and often: most of what is waited for has happened already. */
    private static ConditionFactory patiently() {
        return await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2));
    }

    Asker awaitHead() {
        patiently().until(() -> head != null || problem != null);
        assertThat(problem).isNull();
        return this;
    }

    Asker awaitEnd() {
        patiently().until(() -> ended || problem != null);
        assertThat(problem).isNull();
        return this;
    }

    Problem awaitProblem() {
        patiently().until(() -> ended || problem != null);
        Problem seen = problem;
        assertThat(seen).isNotNull();
        return Objects.requireNonNull(seen);
    }

    void awaitBody(String text) {
        patiently().untilAsserted(() -> assertThat(body()).isEqualTo(text));
    }

    void awaitConsumed(long bytes) {
        patiently().untilAsserted(() -> assertThat(requestConsumed).hasValue(bytes));
    }

    String status() {
        Http2Headers seen = head;
        return seen == null ? "none" : String.valueOf(seen.status());
    }

    @Nullable
    String field(String name) {
        Http2Headers seen = head;
        CharSequence value = seen == null ? null : seen.get(name);
        return value == null ? null : value.toString();
    }

    @Nullable
    String trailer(String name) {
        Http2Headers seen = trailers;
        CharSequence value = seen == null ? null : seen.get(name);
        return value == null ? null : value.toString();
    }

    /** All values of a field of the head. */
    List<String> fields(String name) {
        Http2Headers seen = head;
        return seen == null ? List.of() : seen.getAll(name).stream().map(CharSequence::toString).toList();
    }

    String body() {
        synchronized (kept) {
            return kept.toString(StandardCharsets.ISO_8859_1);
        }
    }

    long checksum() {
        synchronized (kept) {
            return crc.getValue();
        }
    }

    private void onLoop(Runnable action) {
        if (loop.inEventLoop()) {
            action.run();
            return;
        }
        loop.submit(action).syncUninterruptibly();
    }

    private RequestSink sink() {
        return Objects.requireNonNull(sink);
    }

    // ---- being answered ----

    @Override
    public void informational(Http2Headers head) {
        on();
        informational.add(head);
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        on();
        assertThat(this.head).isNull();
        this.head = head;
        this.ended = ended;
    }

    @Override
    public void data(ByteBuf body) {
        on();
        synchronized (kept) {
            byte[] bytes = new byte[body.readableBytes()];
            body.readBytes(bytes);
            body.release();
            crc.update(bytes);
            if (kept.size() < KEPT_BYTES) {
                kept.writeBytes(bytes);
            }
            received.addAndGet(bytes.length);
            unreported += bytes.length;
        }
        if (!stalled) {
            report();
        }
    }

    private void report() {
        RequestSink to = sink;
        if (to != null && unreported > 0) {
            int bytes = (int) unreported;
            unreported = 0;
            to.consumed(bytes);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        on();
        this.trailers = trailers;
        ended = true;
    }

    @Override
    public void fail(Problem problem) {
        on();
        this.problem = problem;
    }

    @Override
    public void consumed(int bytes) {
        assertThat(loop.inEventLoop()).isTrue();
        requestConsumed.addAndGet(bytes);
        if (onConsumed != null) {
            onConsumed.run();
        }
    }

    /** The contract: on the loop, and nothing after the end. */
    private void on() {
        assertThat(loop.inEventLoop()).isTrue();
        assertThat(ended || problem != null).as("told after the end").isFalse();
    }
}

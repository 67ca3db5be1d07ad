package dev.culvert.inbox.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.InboxFixture;
import dev.culvert.inbox.MovableClock;
import dev.culvert.inbox.Reply;
import dev.culvert.inbox.dispatch.AttemptResult;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What webhooks cost while they arrive, and who gives way when that is too much. */
class IntakeTest {
    private static final String PUSH = "/webhooks/argo/push/";
    private static final InetAddress NOISY = address(1);
    private static final InetAddress QUIET = address(2);

    @TempDir
    Path folder;

    /** An upload that has begun. */
    private record Begun(RequestSink sink, Reply reply, EventLoop loop) {
        Begun sends(int bytes) {
            loop.submit(() -> sink.data(Unpooled.wrappedBuffer(new byte[bytes]))).syncUninterruptibly();
            return this;
        }

        void cancels() {
            loop.submit(() -> sink.cancel(AttemptResult.late())).syncUninterruptibly();
        }

        Begun ends() {
            loop.submit(() -> sink.end(null)).syncUninterruptibly();
            return this;
        }
    }

    @Test
    void headsWithoutBodiesRefuseNobody() {
        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();
            List<Begun> idle = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                idle.add(begin(fixture, NOISY, 64 << 10));
            }

            assertThat(begin(fixture, QUIET, 10).sends(10).ends().reply.status()).isEqualTo(202);
            assertThat(begin(fixture, NOISY, 10).sends(10).ends().reply.status()).isEqualTo(202);
            assertThat(idle).noneMatch(begun -> begun.reply.isThere());
            assertThat(fixture.inbox.intake().arriving.memoryUsed()).isBetween(1000L * 2048, 1000L * 4096);
            idle.forEach(Begun::cancels);
            await().until(() -> fixture.inbox.intake().arriving.memoryUsed() == 0);
        }
    }

    @Test
    void theNewestOfTheNoisiestSourceGivesWay() {
        try (var fixture = new InboxFixture(folder, little(), new MovableClock())) {
            fixture.cut();
            List<Begun> noisy = new ArrayList<>();
            do {
                noisy.add(begin(fixture, NOISY, -1).sends(30_000));
            } while (!noisy.getLast().reply.isThere());
            Reply refused = noisy.removeLast().reply;
            assertThat(Objects.requireNonNull(refused.problem).cause()).isEqualTo(Cause.OVERLOADED);

            Reply quiet = begin(fixture, QUIET, -1).sends(30_000).ends().reply;

            assertThat(quiet.status()).isEqualTo(202);
            assertThat(noisy.getLast().reply.status()).isEqualTo(503);
            assertThat(noisy.getFirst().reply.isThere()).isFalse();
            assertThat(noisy.getFirst().ends().reply.status()).isEqualTo(202);
        }
    }

    @Test
    void largeBodiesOfTheNoisiestSourceGiveWay() {
        try (var fixture = new InboxFixture(folder, little(), new MovableClock())) {
            fixture.cut();
            Begun first = begin(fixture, NOISY, -1).sends(100_000);
            Begun second = begin(fixture, NOISY, -1).sends(100_000);
            await().until(() -> first.reply.consumed.get() + second.reply.consumed.get() == 200_000);
            for (int i = 1; i < 4; i++) {
                first.sends(90_000);
                long sent = 100_000L + i * 90_000L;
                await().until(() -> first.reply.consumed.get() == sent);
            }

            Begun quiet = begin(fixture, QUIET, -1).sends(100_000);

            assertThat(second.reply.status()).isEqualTo(503);
            await().until(() -> quiet.reply.consumed.get() == 100_000);
            assertThat(quiet.ends().reply.status()).isEqualTo(202);
            assertThat(first.ends().reply.status()).isEqualTo(202);
            await().until(() -> fixture.inbox.intake().arriving.filesUsed() == 0);
        }
    }

    @Test
    void largeBodiesUnderWayAreCounted() {
        InboxConfig usual = InboxConfig.defaults();
        try (var fixture = new InboxFixture(folder, withMemory(usual.memory()), new MovableClock())) {
            assertThat(fixture.post(PUSH, "x", "content-length", Long.toString((1 << 20) + 1)).status())
                    .isEqualTo(413);
            List<Begun> begun = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                begun.add(begin(fixture, NOISY, -1).sends(400_000));
            }

            assertThat(begun.getLast().reply.status()).isEqualTo(503);
            assertThat(begun.getFirst().reply.isThere()).isFalse();
            begun.forEach(Begun::cancels);
            await().until(() -> fixture.inbox.intake().arriving.filesUsed() == 0);
            assertThat(fixture.inbox.intake().arrived.used()).isZero();
        }
    }

    @Test
    void whatWaitsToBeStoredIsSharedBySource() {
        try (var fixture = new InboxFixture(folder, little(), new MovableClock())) {
            fixture.cut();
            var storing = new CountDownLatch(1);
            fixture.submit(tx -> waited(storing),
                    any -> {}, any -> {});
            List<Begun> noisy = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                noisy.add(begin(fixture, NOISY, 10).sends(10).ends());
            }
            Reply quiet = begin(fixture, QUIET, 10).sends(10).ends().reply;
            assertThat(noisy.getLast().reply.status()).isEqualTo(503);
            assertThat(quiet.isThere()).isFalse();
            assertThat(fixture.inbox.intake().turns.waiting()).isBetween(50, 150);

            storing.countDown();

            assertThat(quiet.status()).isEqualTo(202);
            await().until(() -> fixture.inbox.intake().turns.waiting() == 0);
            List<InboxEntry> stored = entries(fixture);
            assertThat(stored).hasSizeBetween(80, 180);
            assertThat(stored.reversed().stream().map(InboxEntry::id).toList().indexOf(quiet.id()))
                    .as("not behind all of the noisy one's")
                    .isLessThan(40);
            await().until(() -> fixture.inbox.intake().arriving.memoryUsed() == 0);
        }
    }

    private static boolean waited(CountDownLatch latch) {
        try {
            return latch.await(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<InboxEntry> entries(InboxFixture fixture) {
        return Objects.requireNonNull(fixture.inbox.webhooks().list(InboxQuery.of(null, 200)).block())
                .entries();
    }

    @Test
    void whatDoesNotArriveInTimeIsRefused() {
        try (var fixture = new InboxFixture(folder); var slow = new Slow(fixture)) {
            slow.waits(59);
            assertThat(slow.reply.isThere()).isFalse();

            slow.sink.data(Unpooled.wrappedBuffer(new byte[1])); // it drips: that is no reason to wait on
            slow.waits(2);

            assertThat(slow.reply.status()).isEqualTo(408);
            assertThat(fixture.inbox.intake().arriving.memoryUsed()).isZero();
        }
    }

    @Test
    void whileMemoryIsShortSilenceIsCutEarlier() {
        try (var fixture = new InboxFixture(folder, little(), new MovableClock());
                var slow = new Slow(fixture)) {
            slow.waits(19);
            assertThat(slow.reply.isThere()).isFalse();
            Begun large = begin(fixture, QUIET, -1);
            for (int i = 0; i < 5; i++) {
                begin(fixture, QUIET, -1).sends(30_000);
            }

            slow.waits(2);

            assertThat(slow.reply.status()).isEqualTo(408);
            assertThat(large.sends(10).ends().reply.status()).isEqualTo(202);
        }
    }

    /** A webhook of which one byte came, and whose time is the test's. */
    private static final class Slow implements AutoCloseable {
        final Reply reply = new Reply();
        final RequestSink sink;
        private final EmbeddedChannel channel = new EmbeddedChannel();

        Slow(InboxFixture fixture) {
            channel.freezeTime(); // a busy machine's pauses are nobody's silence
            sink = relay(fixture, NOISY).open(request(channel.eventLoop(), 100), reply);
            sink.data(Unpooled.wrappedBuffer(new byte[1]));
        }

        void waits(int seconds) {
            for (int i = 0; i < seconds; i++) {
                channel.advanceTimeBy(1, TimeUnit.SECONDS);
                channel.runScheduledPendingTasks();
            }
            channel.runPendingTasks();
        }

        @Override
        public void close() {
            channel.finishAndReleaseAll();
        }
    }

    @Test
    void whatArrivesEarnsTimeButNotWithoutEnd() {
        assertThat(seconds(new IntakeTimeout(), 0, false, false)).isEqualTo(60);
        assertThat(seconds(new IntakeTimeout(), 0, false, true)).isEqualTo(10);
        assertThat(seconds(new IntakeTimeout(), 1 << 30, false, false)).isEqualTo(600);
        var patience = new IntakeTimeout();
        assertThat(seconds(patience, 25 << 20, false, false)).isEqualTo(460);
        assertThat(patience.more(25 << 20, true, false)).isEqualTo(TimeUnit.SECONDS.toNanos(1));
        assertThat(patience.more(25 << 20, false, false)).isZero();
        assertThat(seconds(patience, 25 << 20, true, false)).isEqualTo(600 - 461 + 10);
        assertThat(patience.more(25 << 20, true, false)).isZero();
    }

    /** How long it waits on, with what it waited before it was asked. */
    private static long seconds(IntakeTimeout patience, long arrived, boolean writing, boolean crowded) {
        long waited = IntakeTimeout.SHORT;
        for (long more = patience.more(arrived, writing, crowded); more > 0; more = patience
                .more(arrived, writing, crowded)) {
            waited += more;
        }
        return TimeUnit.NANOSECONDS.toSeconds(waited);
    }

    @Test
    void smallPartsAreMerged() {
        var parts = new UnwrittenParts();
        for (int i = 0; i < 20_000; i++) {
            parts.add(Unpooled.wrappedBuffer(new byte[]{(byte) i}));
        }

        assertThat(parts.cost()).isBetween(20_000L, 34_000L);
        List<ByteBuf> taken = parts.take();
        assertThat(taken).hasSize(2);
        assertThat(taken.getFirst().getByte(300)).isEqualTo((byte) 300);
        assertThat(taken.stream().mapToInt(ByteBuf::readableBytes).sum()).isEqualTo(20_000);
        taken.forEach(ByteBuf::release);
        assertThat(parts.cost()).isZero();
    }

    private static InboxConfig little() {
        return withMemory(ByteSize.parse("1MiB"));
    }

    private static InboxConfig withMemory(ByteSize memory) {
        InboxConfig usual = InboxConfig.defaults();
        return new InboxConfig(ByteSize.parse("1MiB"), ByteSize.parse("1MiB"), usual.maxSources(),
                memory, usual.perAddress(), Duration.ZERO, usual.attemptTimeout(),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
    }

    private static Begun begin(InboxFixture fixture, InetAddress source, long length) {
        EventLoop loop = fixture.loop();
        var reply = new Reply();
        var sinks = new ArrayList<RequestSink>();
        loop.submit(() -> sinks.add(relay(fixture, source).open(request(loop, length), reply)))
                .syncUninterruptibly();
        return new Begun(sinks.getFirst(), reply, loop);
    }

    private static InboxRelay relay(InboxFixture fixture, InetAddress source) {
        return new InboxRelay(fixture.inbox.intake(),
                new InboxRelay.Target(InboxFixture.RUNTIME, fixture.routes, WebhookSecrets.NONE, Hop.EDGE),
                source, false, fixture.direct);
    }

    private static RelayRequest request(EventLoop loop, long length) {
        var fields = new DefaultHttp2Headers(false).method("POST")
                .scheme("https")
                .authority("h.example")
                .path(PUSH);
        if (length >= 0) {
            fields.setLong("content-length", length);
        }
        return new RelayRequest(RelayRequest.Kind.HTTP, fields, false, loop);
    }

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(new byte[]{(byte) 192, 0, 2, (byte) last});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}

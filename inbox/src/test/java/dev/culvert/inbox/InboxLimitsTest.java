package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.inbox.dispatch.AttemptResult;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import dev.culvert.store.StoreException;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.test.StepVerifier;

/** What the inbox may use: each limit is crossed once. */
class InboxLimitsTest {
    private static final String PUSH = "/webhooks/argo/push/";

    @TempDir
    Path folder;

    @Test
    void aLargeBodyGoesThroughAFileAndArrivesAsItWas() throws IOException, InterruptedException {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            String body = "0123456789abcdef".repeat(20_000);

            Reply reply = fixture.post(PUSH, body);
            Exchange sent = fixture.runtime.next();
            sent.awaitEnd();

            assertThat(sent.receivedBytes).hasValue(body.length());
            assertThat(body.startsWith(sent.body())).as("the same bytes, as far as they are kept").isTrue();
            assertThat(spooled()).hasSize(1);
            sent.ok("big");
            assertThat(reply.body()).isEqualTo("big");
            assertThat(reply.consumed).hasValue(body.length());
            fixture.inbox.webhooks().delete(reply.id()).block();
            await().until(() -> spooled().isEmpty());
        }
    }

    @Test
    void aBodyAboveTheLimitIsRefused() {
        try (var fixture = new InboxFixture(folder)) {
            Reply told = fixture.post(PUSH, "x", "content-length", Long.toString(26L << 20));
            assertThat(told.status()).isEqualTo(413);

            Reply sent = uploaded(fixture, 26 << 20);
            assertThat(sent.status()).isEqualTo(413);
            await().until(() -> spooled().isEmpty());
            assertThat(fixture.inbox.intake().memoryUsed()).isZero();
        }
    }

    @Test
    void aFullQuotaRefusesAndDropsNothing() {
        InboxConfig small = with("1MiB", "1MiB", 1000, 100_000);
        try (var fixture = new InboxFixture(folder, small, new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.ok("there"));
            Reply proof = fixture.post(PUSH, "x");
            await().until(() -> state(fixture, proof) == WebhookState.DELIVERED);
            fixture.inbox.webhooks().delete(proof.id()).block();
            fixture.cut();
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < 21; i++) {
                replies.add(fixture.post(PUSH + i, "x".repeat(50_000)));
            }

            assertThat(replies.stream().filter(reply -> reply.status() == 202)).hasSize(20);
            Reply refused = replies.stream().filter(reply -> reply.status() == 503).findFirst().orElseThrow();
            assertThat(Objects.requireNonNull(refused.problem).retryAfterSeconds()).isPositive();
            assertThat(await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries()).hasSize(20);
        }
    }

    @Test
    void whatIsRejectedTakesUpNoQuotaOfWhatIsToBeDelivered() {
        var fixture = new InboxFixture(folder, with("1MiB", "1MiB", 1, 100_000), new MovableClock());
        try (fixture) {
            fixture.runtime.answer(exchange -> exchange.head("401", true));
            await().until(fixture.inbox::isDelivering);
            for (int i = 0; i < 25; i++) {
                Reply reply = fixture.post(PUSH + i, "x".repeat(50_000));
                assertThat(reply.status()).isEqualTo(401);
                await().until(() -> state(fixture, reply) == WebhookState.DEAD);
            }
            Reply other = fixture.post("/webhooks/argo/other/", "x");
            assertThat(other.status()).isEqualTo(401);
            await().until(() -> state(fixture, other) == WebhookState.DEAD);

            fixture.forgetOld();

            await().until(() -> await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries()
                    .size() <= 21);
            List<InboxEntry> kept = await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries();
            assertThat(kept).extracting(InboxEntry::target)
                    .contains("/webhooks/argo/other/", PUSH + 24)
                    .doesNotContain(PUSH + 0);
            assertThat(kept).hasSizeGreaterThan(15);
        }
    }

    @Test
    void tooManySourcesAreRefused() {
        try (var fixture = new InboxFixture(folder, with("1GiB", "1MiB", 2, 100_000), new MovableClock())) {
            fixture.cut();

            assertThat(fixture.post("/webhooks/argo/a/", "x").status()).isEqualTo(202);
            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/b/", "x").status()).isEqualTo(202);
            fixture.caller = InetAddress.ofLiteral("192.0.2.8");
            assertThat(fixture.post("/webhooks/argo/c/", "x").status()).isEqualTo(503);
            assertThat(fixture.post("/webhooks/argo/a/", "x").status()).isEqualTo(202);
        }
    }

    @Test
    void anAddressThatSendsTooManyIsToldToWait() {
        try (var fixture = new InboxFixture(folder, with("1GiB", "1MiB", 1000, 2), new MovableClock())) {
            fixture.cut();
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                replies.add(fixture.post(PUSH, "x"));
            }

            assertThat(replies).extracting(Reply::status).contains(202, 429);
        }
    }

    @Test
    void slowEventSourcesLeaveMemoryForOthers() throws InterruptedException {
        InboxConfig usual = InboxConfig.defaults();
        var little = new InboxConfig(usual.maxRuntimeBytes(), usual.maxSourceBytes(), usual.maxSources(),
                new ByteSize(1 << 20), usual.perAddress(), usual.answerWithin(), usual.attemptTimeout(),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
        try (var fixture = new InboxFixture(folder, little, new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            for (int i = 1; i <= 30; i++) {
                fixture.post(PUSH + i, "x".repeat(40_000));
                int stored = i;
                await().until(() -> entries(fixture).size() == stored);
            }
            Exchange first = fixture.runtime.next();
            assertThat(first.path()).isEqualTo(PUSH + 1);
            Reply other = fixture.post("/webhooks/argo/other/", "x".repeat(40_000));
            fixture.runtime.next().ok("there");
            assertThat(other.body()).isEqualTo("there");
            first.ok("ok");
            for (int i = 2; i <= 30; i++) {
                Exchange later = fixture.runtime.next();
                assertThat(later.path()).isEqualTo(PUSH + i);
                later.awaitEnd();
                assertThat(later.receivedBytes).hasValue(40_000);
                later.ok("ok");
            }
        }
    }

    @Test
    void aFullDiskRefusesAndGoesOnByItself() throws SQLException {
        InboxFiles files = InboxFiles.open(folder, Clock.systemUTC());
        pages(files, 100);
        try (var fixture = new InboxFixture(folder, files)) {
            fixture.cut();
            List<Reply> stored = new ArrayList<>();
            Reply last = fixture.post(PUSH, "x".repeat(30_000));
            for (int i = 0; last.status() == 202; i++) {
                stored.add(last);
                last = fixture.post(PUSH + i, "x".repeat(30_000));
            }

            assertThat(last.status()).isEqualTo(503);
            assertThat(stored).isNotEmpty();
            pages(files, 10_000);
            assertThat(fixture.post(PUSH, "x").status()).isEqualTo(202);
            assertThat(await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries())
                    .hasSize(stored.size() + 1);
        }
    }

    @Test
    void aCallerIsNotKeptLongerThanItWaits() throws InterruptedException {
        InboxConfig usual = InboxConfig.defaults();
        var quick = new InboxConfig(usual.maxRuntimeBytes(), usual.maxSourceBytes(), usual.maxSources(),
                usual.memory(), usual.perAddress(), Duration.ofMillis(20), Duration.ofSeconds(1),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
        try (var fixture = new InboxFixture(folder, quick, new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            Reply reply = fixture.post(PUSH, "x");

            assertThat(reply.status()).isEqualTo(202);
            Exchange late = fixture.runtime.next();
            assertThat(late.cancelled).isNull();
            await().until(() -> late.cancelled != null);
            await().until(() -> await(fixture.inbox.webhooks().entry(reply.id())).outcome()
                    .equals("upstream-timeout"));
        }
    }

    @Test
    void anAnswerThatBeganWellCountsAlthoughItsBodyStalls() throws InterruptedException {
        InboxConfig usual = InboxConfig.defaults();
        var quick = new InboxConfig(usual.maxRuntimeBytes(), usual.maxSourceBytes(), usual.maxSources(),
                usual.memory(), usual.perAddress(), Duration.ofMillis(20), Duration.ofSeconds(1),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
        try (var fixture = new InboxFixture(folder, quick, new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            Reply reply = fixture.post(PUSH, "x");
            Exchange stalls = fixture.runtime.next().head("200", false);

            await().until(() -> state(fixture, reply) == WebhookState.DELIVERED);
            assertThat(stalls.cancelled).isNotNull();
        }
    }

    @Test
    void theOldestDeliveredOnesLoseTheirContentFirst() {
        InboxConfig usual = InboxConfig.defaults();
        var little = new InboxConfig(usual.maxRuntimeBytes(), usual.maxSourceBytes(), usual.maxSources(),
                usual.memory(), usual.perAddress(), usual.answerWithin(), usual.attemptTimeout(),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), new ByteSize(70_000));
        try (var fixture = new InboxFixture(folder, little, new MovableClock())) {
            fixture.runtime.answer(exchange -> exchange.head("200", true));
            Reply old = fixture.post(PUSH, "x".repeat(50_000));
            await().until(() -> state(fixture, old) == WebhookState.DELIVERED);
            Reply young = fixture.post(PUSH, "x".repeat(50_000));
            await().until(() -> state(fixture, young) == WebhookState.DELIVERED);

            fixture.forgetOld();

            await().until(() -> !await(fixture.inbox.webhooks().entry(old.id())).replayable());
            assertThat(await(fixture.inbox.webhooks().entry(young.id())).replayable()).isTrue();
            StepVerifier.create(fixture.inbox.webhooks().replay(old.id()))
                    .verifyError(StoreException.Conflict.class);
        }
    }

    @Test
    void whatWasKeptLongEnoughIsForgotten() {
        var clock = new MovableClock();
        try (var fixture = new InboxFixture(folder, InboxFixture.CONFIG, clock)) {
            fixture.runtime.answer(
                    exchange -> exchange.head(exchange.path().endsWith("dead") ? "400" : "200", true));
            Reply dead = fixture.post(PUSH + "dead", "x");
            Reply delivered = fixture.post(PUSH, "x");
            await().until(() -> state(fixture, dead) == WebhookState.DEAD
                    && state(fixture, delivered) == WebhookState.DELIVERED);

            clock.advance(Duration.ofDays(2));
            fixture.tick();
            fixture.forgetOld();
            await().until(() -> state(fixture, delivered) == null);
            assertThat(state(fixture, dead)).isEqualTo(WebhookState.DEAD);

            clock.advance(Duration.ofDays(29));
            fixture.tick();
            fixture.forgetOld();
            await().until(() -> state(fixture, dead) == null);
        }
    }

    private static List<InboxEntry> entries(InboxFixture fixture) {
        return await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries();
    }

    private static @Nullable WebhookState state(InboxFixture fixture, Reply reply) {
        return fixture.inbox.webhooks().entry(reply.id()).map(InboxEntry::state).block();
    }

    private static void pages(InboxFiles files, int most) throws SQLException {
        try (Statement statement = files.writes().createStatement()) {
            statement.execute("PRAGMA max_page_count = " + most);
        }
    }

    private static RelayRequest request(EventLoop loop) {
        return new RelayRequest(RelayRequest.Kind.HTTP, new DefaultHttp2Headers(false).method("POST")
                .scheme("https")
                .authority("h.example")
                .path(PUSH), false, loop);
    }

    private static Reply uploaded(InboxFixture fixture, int bytes) {
        var reply = new Reply();
        EventLoop loop = fixture.loop();
        AtomicReference<RequestSink> sink = new AtomicReference<>();
        loop.submit(() -> sink.set(fixture.relay(false).open(request(loop), reply))).syncUninterruptibly();
        byte[] chunk = "x".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
        for (int sent = 0; sent < bytes; sent += chunk.length) {
            long wanted = sent;
            await().until(() -> reply.consumed.get() >= wanted);
            loop.submit(() -> sink.get().data(Unpooled.wrappedBuffer(chunk))).syncUninterruptibly();
        }
        loop.submit(() -> sink.get().cancel(AttemptResult.late())).syncUninterruptibly();
        return reply;
    }

    private static InboxConfig with(String runtime, String source, int sources, int perAddress) {
        InboxConfig usual = InboxConfig.defaults();
        return new InboxConfig(ByteSize.parse(runtime), ByteSize.parse(source), sources, usual.memory(),
                perAddress,
                usual.answerWithin(), usual.attemptTimeout(), usual.maxAttempts(), usual.keepDead(),
                usual.keepDelivered(), usual.keepDeliveredBytes());
    }

    private List<Path> spooled() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("spool"))) {
            return files.filter(Files::isRegularFile).filter(file -> !file.endsWith("lock")).toList();
        }
    }
}

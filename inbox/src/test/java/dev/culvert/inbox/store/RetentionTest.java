package dev.culvert.inbox.store;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.InboxFixture;
import dev.culvert.inbox.MovableClock;
import dev.culvert.inbox.Reply;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.store.SqliteDatabase;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of delivered webhooks, whose it is, and what operators' questions cost. */
class RetentionTest {
    private static final String PUSH = "/webhooks/argo/push/";

    @TempDir
    Path folder;

    @Test
    void aBusyRuntimeCostsNoOtherItsReplays() {
        try (var fixture = new InboxFixture(folder, keeping(100_000), new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("200", true));
            Reply quiet = delivered(fixture, "quiet", "x".repeat(20_000));
            List<Reply> busy = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                busy.add(delivered(fixture, "busy", "y".repeat(30_000) + i));
            }

            fixture.forgetOld();

            await().until(() -> !replayable(fixture, busy.get(6)));
            assertThat(replayable(fixture, quiet)).isTrue();
            assertThat(replayable(fixture, busy.getLast())).isTrue();
        }
    }

    @Test
    void aBusyRuntimeCostsNoOtherItsMemoryOfDuplicates() throws Exception {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("200", true));
            Reply quiet = delivered(fixture, "quiet", "x");
            for (int i = 0; i < 5; i++) {
                delivered(fixture, "busy", "y" + i);
            }
            var retention = new Retention(InboxFixture.CONFIG, DiskRoom.of(folder), 3);

            for (var step = run(fixture, retention::step); step
                    .more(); step = run(fixture, retention::step)) {
                assertThat(step.spools()).isEmpty();
            }

            assertThat(await(fixture.inbox.webhooks().list(InboxQuery.of(null, 10))).entries()).hasSize(3)
                    .extracting(InboxEntry::id)
                    .contains(quiet.id());
        }
    }

    @Test
    void keptAnswersCountAndGoLast() throws Exception {
        try (var fixture = new InboxFixture(folder, keeping(5_000), new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("200", false).body("a".repeat(2_000)).end());
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                replies.add(delivered(fixture, "busy", "x".repeat(1_000) + i));
            }
            long before = bytes();
            assertThat(before).isBetween(4L * 3_500, 4L * 4_500);

            fixture.forgetOld();

            await().until(() -> bytes() <= 5_000);
            assertThat(bytes()).isGreaterThan(1_900);
            assertThat(post(fixture, "busy", "x".repeat(1_000) + 3).body()).hasSize(2_000);
            assertThat(post(fixture, "busy", "x".repeat(1_000) + 0).status()).isEqualTo(202);
            assertThat(replies).noneMatch(reply -> replayable(fixture, reply));
        }
    }

    @Test
    void ofALargeAnswerTheStatusIsKept() {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("201", false).body("a".repeat(5_000)).end());
            Reply first = delivered(fixture, "busy", "x");
            assertThat(first.body()).hasSize(5_000);

            Reply second = post(fixture, "busy", "x");

            assertThat(second.status()).isEqualTo(201);
            assertThat(second.body()).isEmpty();
            assertThat(second.field("culvert-webhook-duplicate")).isEqualTo("true");
        }
    }

    @Test
    void theFileShrinksWhenWebhooksAreForgotten() throws Exception {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            shrinks(fixture);
        }
    }

    private void shrinks(InboxFixture fixture) throws Exception {
        fixture.runtime.answer(exchange -> exchange.ok("ok"));
        delivered(fixture, "busy", "so that its source is no newcomer, whose bytes have a share");
        fixture.runtime.answer(exchange -> {}); // as without a tunnel
        fixture.cut();
        for (int batch = 0; batch < 250; batch += 50) {
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                replies.add(begin(fixture, "busy", "x".repeat(60_000) + (batch + i)));
            }
            assertThat(replies).allMatch(reply -> reply.status() == 202);
        }
        long pages = pragma("page_count");
        assertThat(pages).isGreaterThan(3_500);
        assertThat(fixture.inbox.webhooks().purge("busy", "argo/push", null).block()).isEqualTo(251);

        fixture.forgetOld();

        await().until(() -> pragma("page_count") < pages / 2);
    }

    @Test
    void theFileOfAnOlderVersionShrinksToo() throws Exception {
        Path file = folder.resolve(InboxFiles.FILE);
        try (Connection old = SqliteDatabase.connect(file); Statement statement = old.createStatement()) {
            statement.execute("CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT");
        }
        assertThat(pragma("auto_vacuum")).isZero();
        try (var fixture = new InboxFixture(folder)) {
            assertThat(pragma("auto_vacuum")).isEqualTo(2);
            fixture.cut();
            assertThat(fixture.post(PUSH, "x").status()).isEqualTo(202);
        }
    }

    @Test
    void anOperatorsLongListHoldsUpNoDelivery() throws Exception {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            fixture.cut();
            Reply stored = fixture.post(PUSH, "x");
            assertThat(stored.status()).isEqualTo(202);
            var reading = new CountDownLatch(1);
            var read = new CountDownLatch(1);
            var listed = fixture.inbox.webhooks().list(InboxQuery.of(null, 1)).doOnNext(page -> {
                reading.countDown();
                try {
                    read.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }).toFuture();
            reading.await();

            fixture.restore();
            fixture.runtime.next().ok("there");

            await().until(() -> fixture.meters.get("culvert.webhook.delivery").timer().count() == 1);
            assertThat(listed).isNotDone();
            read.countDown();
            listed.join();
        }
    }

    @Test
    void eachListIsReadByAnIndex() throws Exception {
        InboxFiles.open(folder, Clock.systemUTC()).writes().close();
        for (InboxQuery query : List.of(InboxQuery.of(null, 1), new InboxQuery(null, "r", null, null, 1),
                new InboxQuery(null, "r", "s", null, 1))) {
            assertThat(plan(InboxReads.pageOf(query))).contains("SEARCH")
                    .doesNotContain("SCAN", "TEMP B-TREE");
        }
    }

    @Test
    void eachChangeOfManyIsReadByAnIndexInTheOrderOfItsSource() throws Exception {
        InboxFiles.open(folder, Clock.systemUTC()).writes().close();
        WebhookFilter dead = new WebhookFilter(List.of(), null, null, WebhookState.DEAD, null, null);
        assertThat(plan(BulkSelection.pageOf(dead))).contains("SEARCH", "webhooks_by_state (state=?")
                .doesNotContain("SCAN", "TEMP B-TREE");
        WebhookFilter ofRuntime = new WebhookFilter(List.of(), "r", null, WebhookState.DEAD, null, null);
        assertThat(plan(BulkSelection.pageOf(ofRuntime)))
                .contains("SEARCH", "webhooks_of_runtime (runtime=? AND state=?")
                .doesNotContain("SCAN", "TEMP B-TREE");
        assertThat(plan(BulkSelection.pageOf(WebhookFilter.of("r", "s", WebhookState.DEAD))))
                .contains("SEARCH", "webhooks_of_source (runtime=? AND source=? AND state=?")
                .doesNotContain("SCAN", "TEMP B-TREE");
    }

    @Test
    void countsFollowWhatOthersStoreToo() throws Exception {
        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();
            assertThat(fixture.post(PUSH, "x").status()).isEqualTo(202);
            fixture.tick();
            await().until(() -> fixture.counts().getOrDefault(WebhookState.PENDING, 0L) == 1);
            try (Connection other = SqliteDatabase.connect(folder.resolve(InboxFiles.FILE))) {
                SqliteDatabase.update(other, "UPDATE usage SET entries = 7 WHERE source = ''");
            }
            fixture.tick();
            await().until(() -> fixture.counts().getOrDefault(WebhookState.PENDING, 0L) == 7);
        }
    }

    private String plan(String sql) throws SQLException {
        try (Connection connection = connection();
                var plan = connection.prepareStatement("EXPLAIN QUERY PLAN " + sql)) {
            var text = new StringBuilder();
            var row = plan.executeQuery();
            while (row.next()) {
                text.append(row.getString("detail")).append('\n');
            }
            return text.toString();
        }
    }

    private long pragma(String name) throws SQLException {
        try (Connection connection = connection(); var statements = new Statements(connection)) {
            return statements.number("PRAGMA " + name);
        }
    }

    private Connection connection() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve(InboxFiles.FILE));
    }

    private long bytes() throws SQLException, IOException {
        assertThat(Files.size(folder.resolve(InboxFiles.FILE))).isPositive();
        try (Connection connection = connection(); var statements = new Statements(connection)) {
            return statements.number("SELECT coalesce(sum(bytes), 0) FROM usage WHERE source = ''");
        }
    }

    private static <T> T run(InboxFixture fixture, CommitThread.Job<T> job) {
        var done = new CompletableFuture<T>();
        fixture.submit(job, done::complete, done::completeExceptionally);
        return done.join();
    }

    private static boolean replayable(InboxFixture fixture, Reply reply) {
        return await(fixture.inbox.webhooks().entry(reply.id())).replayable();
    }

    private static Reply delivered(InboxFixture fixture, String runtime, String body) {
        Reply reply = post(fixture, runtime, body);
        await().until(
                () -> await(fixture.inbox.webhooks().entry(reply.id())).state() == WebhookState.DELIVERED);
        return reply;
    }

    private static Reply post(InboxFixture fixture, String runtime, String body) {
        return begin(fixture, runtime, body).await();
    }

    private static Reply begin(InboxFixture fixture, String runtime, String body) {
        var reply = new Reply();
        EventLoop loop = fixture.loop();
        loop.submit(() -> {
            RequestSink sink = new InboxRelay(fixture.inbox.intake(),
                    new InboxRelay.Target(runtime, fixture.routes, WebhookSecrets.NONE, Hop.EDGE), null,
                    false,
                    fixture.direct)
                    .open(new RelayRequest(RelayRequest.Kind.HTTP,
                            new DefaultHttp2Headers(false).method("POST")
                                    .scheme("https")
                                    .authority("h.example")
                                    .path(PUSH)
                                    .set("idempotency-key", Integer.toString(body.hashCode())),
                            false, loop), reply);
            sink.data(Unpooled.copiedBuffer(body, StandardCharsets.US_ASCII));
            sink.end(null);
        }).syncUninterruptibly();
        return reply;
    }

    private static InboxConfig keeping(int bytes) {
        InboxConfig usual = InboxConfig.defaults();
        return new InboxConfig(usual.maxRuntimeBytes(), usual.maxSourceBytes(), usual.maxSources(),
                usual.memory(),
                usual.perAddress(), usual.answerWithin(), usual.attemptTimeout(), usual.maxAttempts(),
                usual.keepDead(), usual.keepDelivered(), new ByteSize(bytes));
    }
}

package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.http.problem.Problem;
import dev.culvert.inbox.dispatch.AttemptResult;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.Naming;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.KnownSources;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.route.AnnouncedRoute;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.store.SqliteDatabase;
import java.net.InetAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Event sources that callers invent, and those that are there. */
class SourcesTest {
    private static final String REAL = "/webhooks/argo/push/";

    @TempDir
    Path folder;

    @Test
    void inventedSourcesLeaveRealOnesTheirPlace() {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            accept(fixture);
            fixture.cut();

            List<Integer> invented = IntStream.range(0, 25)
                    .mapToObj(i -> fixture.post("/webhooks/argo/invented-" + i + "/", "x").status())
                    .toList();

            assertThat(invented.subList(0, 5)).containsOnly(202);
            assertThat(invented.subList(5, 25)).containsOnly(503);
            assertThat(fixture.post(REAL, "x").status()).isEqualTo(202);
        }
    }

    @Test
    void inventedSourcesLeaveRealOnesTheirBytes() {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            accept(fixture);
            fixture.cut();

            List<Integer> invented = IntStream.range(0, 30)
                    .mapToObj(i -> fixture.post("/webhooks/argo/invented/" + i, "x".repeat(60_000)).status())
                    .toList();

            assertThat(invented).contains(202, 503);
            assertThat(fixture.post(REAL, "x".repeat(60_000)).status()).isEqualTo(202);
        }
    }

    @Test
    void inventedSourcesOfOneAddressLeaveNewcomersTheirPlace() {
        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();
            assertThat(invent(fixture, "10.0.0.1", 300)).isEqualTo(50);

            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/honest/", "x").status()).isEqualTo(202);
            assertThat(fixture.post("/webhooks/argo/invented-10-0-0-1-3/", "x").status()).isEqualTo(202);
        }
    }

    @Test
    void inventedSourcesOfManyAddressesLeaveNewcomersTheirPlace() {
        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();
            for (int i = 1; i <= 15; i++) {
                invent(fixture, "10.0.0." + i, 30);
                invent(fixture, "2001:db8:7:" + i + "::1", 10);
            }

            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/honest/", "x").status()).isEqualTo(202);
        }
    }

    @Test
    void aSenderAloneMayOpenManySources() {
        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();

            assertThat(invent(fixture, "192.0.2.7", 13)).isEqualTo(13);
        }
    }

    @Test
    void namesThatDoNotExistForSomeTimeGiveWay() throws SQLException {
        var clock = new MovableClock();
        try (var fixture = new InboxFixture(folder, with(20), clock)) {
            List<Reply> invented = fill(fixture);
            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/honest/", "x").status()).as("too early").isEqualTo(503);
            namelessForLong(fixture, 10);

            try (var other = new InboxFixture(folder, with(20), clock)) {
                other.caller = fixture.caller;
                assertThat(other.post("/webhooks/argo/honest/", "x").status()).as("no lease").isEqualTo(503);
                assertThat(number("SELECT count(*) FROM new_sources")).isEqualTo(10);
                assertThat(invented).allMatch(reply -> state(fixture, reply) == WebhookState.PENDING);
            }
            Reply honest = fixture.post("/webhooks/argo/honest/", "x");

            assertThat(honest.status()).isEqualTo(202);
            assertThat(state(fixture, invented.getFirst())).isEqualTo(WebhookState.DEAD);
            assertThat(invented.subList(1, 10))
                    .allMatch(reply -> state(fixture, reply) == WebhookState.PENDING);
            fixture.runtime.answer(exchange -> exchange.ok("there"));
            fixture.inbox.webhooks().replay(invented.getFirst().id()).block();
            await().until(() -> state(fixture, invented.getFirst()) == WebhookState.DELIVERED);
        }
    }

    @Test
    void noAttemptThatShowsLessCountsAsNameless() throws SQLException {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            List<Reply> there = fill(fixture);
            fixture.runtime.answer(exchange -> exchange
                    .fail(Problem.of(Problem.Cause.UPSTREAM_REFUSED, Problem.Hop.UPSTREAM,
                            WireProblem.NO_NAME.detail() + " now")));
            passUntil(fixture, 10, "SELECT count(*) FROM new_sources WHERE name = 0");
            fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
            passUntil(fixture, 10, "SELECT count(*) FROM new_sources WHERE name = 1");

            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/honest/", "x").status()).isEqualTo(503);
            assertThat(there).allMatch(reply -> state(fixture, reply) == WebhookState.PENDING);
        }
    }

    @Test
    void sourcesThatAnsweredLeaveTheSmallQuotaForGood() throws SQLException {
        try (var fixture = new InboxFixture(folder, with(40), new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("500", true));
            for (int i = 0; i < 12; i++) {
                fixture.caller = InetAddress.ofLiteral("10.0.0." + i);
                Reply reply = fixture.post("/webhooks/argo/down-" + i + "/", "x");
                assertThat(reply.status()).isEqualTo(202);
                await().until(() -> outcome(fixture, reply).equals("500"));
            }
            fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
            int before = fixture.runtime.all.size();
            fixture.advance(Duration.ofMinutes(1));
            await().until(() -> fixture.runtime.all.size() >= before + 12);
            fixture.submit(tx -> true, done -> {}, failed -> {});

            assertThat(number("SELECT count(*) FROM new_sources WHERE name = 2")).isEqualTo(12);
        }
    }

    @Test
    void aSourceGivesWayOnlyWithAllItsWebhooks() throws SQLException {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            List<Reply> invented = fill(fixture);
            fixture.caller = InetAddress.ofLiteral("10.0.0.0");
            for (int i = 0; i < 256; i++) {
                assertThat(fixture.post("/webhooks/argo/invented-0/" + i, "x").status()).isEqualTo(202);
            }
            namelessForLong(fixture, 10);

            fixture.caller = InetAddress.ofLiteral("192.0.2.7");
            assertThat(fixture.post("/webhooks/argo/honest/", "x").status()).isEqualTo(202);

            assertThat(state(fixture, invented.getFirst())).isEqualTo(WebhookState.PENDING);
            assertThat(state(fixture, invented.get(1))).isEqualTo(WebhookState.DEAD);
            assertThat(number("SELECT count(*) FROM new_sources")).isEqualTo(10);
        }
    }

    /** Ten addresses take all places of a small quota with names that do not exist. */
    private static List<Reply> fill(InboxFixture fixture) {
        await().until(fixture.inbox::isDelivering);
        fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
        List<Reply> invented = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            fixture.caller = InetAddress.ofLiteral("10.0.0." + i);
            Reply reply = fixture.post("/webhooks/argo/invented-" + i + "/", "x");
            assertThat(reply.status()).isEqualTo(202);
            await().until(() -> outcome(fixture, reply).equals("upstream-refused"));
            invented.add(reply);
        }
        return invented;
    }

    /** Lets time pass until this number of sources has been nameless for long enough to give way. */
    private void namelessForLong(InboxFixture fixture, int sources) throws SQLException {
        await().until(() -> number("SELECT count(*) FROM new_sources WHERE name = 1") == sources);
        passUntil(fixture, sources, "SELECT count(*) FROM new_sources WHERE last - nameless >= "
                + Naming.PATIENCE.toMillis());
    }

    private void passUntil(InboxFixture fixture, int wanted, String count) throws SQLException {
        fixture.advance(Naming.PATIENCE);
        await().until(() -> number(count) == wanted);
    }

    private int number(String query) throws SQLException {
        try (Connection other = SqliteDatabase.connect(folder.resolve(InboxFiles.FILE));
                var statement = other.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            assertThat(row.next()).isTrue();
            return row.getInt(1);
        }
    }

    @Test
    void aDuplicateDisplacesNothingAndIsAnsweredLikeTheFirst() throws SQLException {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
            String large = "x".repeat(100_000);
            List<Reply> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                fixture.caller = InetAddress.ofLiteral("10.0.0." + i);
                all.add(fixture.post("/webhooks/argo/invented-" + i + "/", large, "webhook-id", "m" + i));
                assertThat(all.getLast().status()).isEqualTo(202);
            }
            namelessForLong(fixture, 10);

            Reply again = fixture.post("/webhooks/argo/invented-0/", large, "webhook-id", "m0");

            assertThat(again.status()).isEqualTo(202);
            assertThat(again.id()).isEqualTo(all.getFirst().id());
            assertThat(all).allMatch(reply -> state(fixture, reply) == WebhookState.PENDING);
        }
    }

    /** One address posts to invented names. Returns the number of stored webhooks. */
    private static long invent(InboxFixture fixture, String address, int names) {
        fixture.caller = InetAddress.ofLiteral(address);
        return IntStream.range(0, names)
                .map(i -> fixture
                        .post("/webhooks/argo/invented-" + address.replaceAll("[:.]+", "-") + "-" + i + "/",
                                "x")
                        .status())
                .filter(status -> status == 202)
                .count();
    }

    @Test
    void sourcesThatTheAllowListNamesShareNothing() {
        try (var fixture = new InboxFixture(folder, with(20), new MovableClock())) {
            List<String> names = IntStream.range(0, 15).mapToObj(i -> "ci/real-" + i).toList();
            fixture.routes = DurableRoutes.of(Announcement.parse(Announcement
                    .of(List.of(AnnouncedRoute.durable("/webhooks/{namespace}/{eventSource}/",
                            "{eventSource}.{namespace}")),
                            names, RequestPolicy.OPEN)
                    .toJson()));
            fixture.cut();

            assertThat(names).allMatch(name -> fixture.post("/webhooks/" + name + "/", "x").status() == 202);
        }
    }

    @Test
    void anInventedSourceIsGivenUpAfterAnHour() {
        try (var fixture = new InboxFixture(folder)) {
            accept(fixture);
            fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
            Reply known = fixture.post(REAL, "x");
            Reply invented = fixture.post("/webhooks/argo/invented/", "x");
            await().until(() -> outcome(fixture, known).equals("upstream-refused")
                    && outcome(fixture, invented).equals("upstream-refused"));
            int before = fixture.runtime.all.size();

            fixture.advance(Duration.ofMinutes(59));
            await().until(() -> fixture.runtime.all.size() >= before + 2);
            assertThat(state(fixture, invented)).isEqualTo(WebhookState.PENDING);
            fixture.advance(Duration.ofMinutes(2));

            await().until(() -> state(fixture, invented) == WebhookState.DEAD);
            assertThat(state(fixture, known)).isEqualTo(WebhookState.PENDING);
            fixture.runtime.answer(exchange -> exchange.ok("there"));
            fixture.inbox.webhooks().replay(invented.id()).block();
            await().until(() -> state(fixture, invented) == WebhookState.DELIVERED);
        }
    }

    @Test
    void aNewSourceThatIsDownKeepsItsSevenDays() {
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.fail(AttemptResult.late()));
            Reply first = fixture.post("/webhooks/argo/new/", "x");
            await().until(() -> outcome(fixture, first).equals("upstream-timeout"));
            fixture.runtime.answer(exchange -> exchange.fail(WireProblem.NO_NAME));
            fixture.advance(Duration.ofMinutes(1));
            await().until(() -> outcome(fixture, first).equals("upstream-refused"));
            int before = fixture.runtime.all.size();

            fixture.advance(Duration.ofHours(30));

            await().until(() -> fixture.runtime.all.size() > before + 1);
            assertThat(state(fixture, first)).isEqualTo(WebhookState.PENDING);
        }
    }

    @Test
    void aSourceIsPurgedByItsName() {
        try (var fixture = new InboxFixture(folder)) {
            accept(fixture);
            fixture.cut();
            for (int i = 0; i < 250; i++) {
                assertThat(fixture.post("/webhooks/argo/other/" + i, "x").status()).isEqualTo(202);
            }
            Reply kept = fixture.post(REAL, "x");
            assertThat(kept.status()).isEqualTo(202);

            assertThat(fixture.inbox.webhooks()
                    .purge(InboxFixture.RUNTIME, "argo/other", WebhookState.DEAD)
                    .block())
                    .isZero();
            assertThat(fixture.inbox.webhooks().purge(InboxFixture.RUNTIME, "argo/other", null).block())
                    .isEqualTo(250);

            assertThat(await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries())
                    .extracting(InboxEntry::source)
                    .containsOnly("argo/push");
            assertThat(state(fixture, kept)).isEqualTo(WebhookState.PENDING);
        }
    }

    @Test
    void onlySoManySourcesOfARuntimeAreNotedAsKnown() throws SQLException {
        try (var fixture = new InboxFixture(folder, with(1), new MovableClock())) {
            for (int i = 0; i < KnownSources.ROWS + 2; i++) {
                accept(fixture, "/webhooks/argo/other-" + i + "/");
            }

            assertThat(number("SELECT count(*) FROM sources")).isEqualTo(KnownSources.ROWS);
        }
    }

    /** The real event source accepts a webhook. */
    private static void accept(InboxFixture fixture) {
        accept(fixture, REAL + "first");
    }

    private static void accept(InboxFixture fixture, String path) {
        await().until(fixture.inbox::isDelivering);
        fixture.runtime.answer(exchange -> exchange.ok("there"));
        Reply reply = fixture.post(path, "x");
        await().until(() -> state(fixture, reply) == WebhookState.DELIVERED);
    }

    private static WebhookState state(InboxFixture fixture, Reply reply) {
        return await(fixture.inbox.webhooks().entry(reply.id())).state();
    }

    private static String outcome(InboxFixture fixture, Reply reply) {
        return await(fixture.inbox.webhooks().entry(reply.id())).outcome();
    }

    private static InboxConfig with(int sources) {
        InboxConfig usual = InboxConfig.defaults();
        return new InboxConfig(ByteSize.parse("8MiB"), ByteSize.parse("8MiB"), sources, usual.memory(),
                usual.perAddress(), usual.answerWithin(), usual.attemptTimeout(), usual.maxAttempts(),
                usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
    }
}

package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.path.HostTemplate;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.PendingWebhooks;
import dev.culvert.inbox.model.SourceBacklog;
import dev.culvert.inbox.model.WebhookHead;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.queue.RetrySchedule;
import dev.culvert.inbox.queue.SourceQueue;
import dev.culvert.inbox.store.Retention;
import dev.culvert.relay.route.AnnouncedRoute;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.relay.route.RouteRule;
import dev.culvert.relay.route.SourceList;
import dev.culvert.relay.route.Verification;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import dev.culvert.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.test.StepVerifier;

/** What becomes of webhooks. */
class InboxTest {
    private static final String PUSH = "/webhooks/argo/push/x?y=1";
    private static final Problem FORBIDDEN = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER, "the cluster says no");

    @TempDir
    Path folder;
    private InboxFixture fixture;

    @BeforeEach
    void open() {
        fixture = new InboxFixture(folder);
        await().until(fixture.inbox::isDelivering);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void theCallerGetsItsEventSourcesAnswer() throws InterruptedException {
        Reply reply = fixture.post(PUSH, "{}", "x-github-event", "push", "culvert-webhook-id", "mine",
                "culvert-delivery-attempt", "7");

        Exchange sent = fixture.runtime.next();
        sent.awaitEnd();
        sent.head("200", false, "x-a", "b").body("success").end();
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body()).isEqualTo("success");
        assertThat(reply.field("x-a")).isEqualTo("b");
        assertThat(sent.body()).isEqualTo("{}");
        assertThat(sent.path()).isEqualTo(PUSH);
        assertThat(sent.request.fields().get("x-github-event")).hasToString("push");
        assertThat(sent.request.fields().getAll("culvert-webhook-id")).containsExactly(reply.id());
        assertThat(sent.request.fields().get("culvert-delivery-attempt")).hasToString("1");
        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
        assertThat(entry(reply).target()).isEqualTo("/webhooks/argo/push/x");
        assertThat(entry(reply).source()).isEqualTo("argo/push");
        assertThat(fixture.inbox.intake().memoryUsed()).isZero();
    }

    @Test
    void aCallerThatAsksFirstIsToldToGoOn() throws InterruptedException {
        Reply reply = fixture.post(PUSH, "{}", "expect", "100-continue");

        Exchange sent = fixture.runtime.next();
        assertThat(reply.interims).hasValue(1);
        assertThat(sent.request.fields().get("expect")).isNull();
        sent.ok("x");
    }

    @Test
    void aFinalRefusalIsPassedOnAndItsWebhookIsDead() {
        fixture.runtime.answer(exchange -> exchange.head("404", true));

        Reply reply = fixture.post(PUSH, "{}");

        assertThat(reply.status()).isEqualTo(404);
        await().until(() -> entry(reply).state() == WebhookState.DEAD);
    }

    @Test
    void whatIsNotDeliveredIsKnownBySource() {
        fixture.runtime.answer(exchange -> exchange.head("404", true));
        Reply dead = fixture.post(PUSH, "{\"dead\":1}", "x-github-event", "push");
        await().until(() -> entry(dead).state() == WebhookState.DEAD);
        StoredWebhooks webhooks = fixture.inbox.webhooks();
        assertThat(webhooks.pending().blockOptional()).isEmpty();

        SourceBacklog backlog = Objects.requireNonNull(webhooks.backlogs(10).block()).getFirst();
        WebhookHead head = Objects.requireNonNull(webhooks.head(dead.id(), 4).block());

        assertThat(backlog.dead()).isEqualTo(1);
        assertThat(backlog.pending()).isZero();
        assertThat(backlog.deadSince()).isEqualTo(entry(dead).ended());
        assertThat(new String(head.body(), StandardCharsets.UTF_8)).isEqualTo("{\"de");
        assertThat(head.size()).isEqualTo(10);
        assertThat(head.fields().get("x-github-event")).hasToString("push");
        assertThat(webhooks.head("nope", 4).blockOptional()).isEmpty();

        webhooks.pause(backlog.runtimeId(), backlog.source()).block();
        webhooks.replay(dead.id()).block();
        PendingWebhooks pending = Objects.requireNonNull(webhooks.pending().block());
        assertThat(pending.count()).isEqualTo(1);
        assertThat(pending.oldest().id()).isEqualTo(dead.id());
    }

    @Test
    void aRefusalOnTheWayIsPassedOnToo() {
        fixture.runtime.answer(
                exchange -> exchange.fail(Problem.of(Cause.BODY_TOO_LARGE, Hop.ROUTER, "too large")));

        Reply reply = fixture.post(PUSH, "{}");

        assertThat(reply.status()).isEqualTo(413);
        assertThat(reply.body()).contains("urn:culvert:problem:body-too-large", "\"hop\":\"router\"");
        await().until(() -> entry(reply).state() == WebhookState.DEAD);
    }

    @Test
    void whatThePolicyRefusesWaitsForItsRepair() {
        fixture.runtime.answer(exchange -> exchange.fail(FORBIDDEN));
        Reply reply = fixture.post(PUSH, "{}");
        assertThat(reply.status()).isEqualTo(403);
        assertThat(reply.body()).contains("urn:culvert:problem:not-allowed", "\"hop\":\"router\"");
        Reply behind = fixture.post("/webhooks/argo/push/behind", "{}");
        assertThat(behind.status()).isEqualTo(202);
        await().until(() -> entry(reply).outcome().equals("not-allowed"));
        fixture.advance(Duration.ofMinutes(50));
        await().until(() -> fixture.runtime.all.size() >= 3);

        fixture.runtime.answer(exchange -> exchange.ok("ok"));
        fixture.inbox.reachable(InboxFixture.RUNTIME);

        await().until(() -> entry(behind).state() == WebhookState.DELIVERED);
        assertThat(entry(reply).state()).isEqualTo(WebhookState.DELIVERED);
        assertThat(entry(reply).attempts()).isEqualTo(1);
        assertThat(entry(reply).refused()).isGreaterThanOrEqualTo(2);
        assertThat(entry(reply).outOfOrder()).isFalse();
    }

    @Test
    void whatThePolicyRefusesForAnHourIsDead() {
        fixture.runtime.answer(exchange -> exchange.fail(FORBIDDEN));
        Reply reply = fixture.post(PUSH, "{}");
        await().until(() -> entry(reply).outcome().equals("not-allowed"));

        fixture.advance(SourceQueue.FORBIDDEN);

        await().until(() -> entry(reply).state() == WebhookState.DEAD);
        assertThat(entry(reply).outcome()).isEqualTo("not-allowed");
        assertThat(entry(reply).attempts()).isZero();
        assertThat(entry(reply).refused()).isPositive();
    }

    @Test
    void aFailureIsAcceptedAndTriedAgain() {
        fixture.runtime.answer(exchange -> exchange.head("500", true));

        Reply reply = fixture.post(PUSH, "{}");

        assertThat(reply.status()).isEqualTo(202);
        assertThat(reply.body()).isEqualTo("{\"id\":\"" + reply.id() + "\",\"state\":\"pending\"}");
        await().until(() -> entry(reply).outcome().equals("500"));
        fixture.runtime.answer(exchange -> exchange.head("204", true));
        fixture.advance(Duration.ofSeconds(5));
        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
        assertThat(entry(reply).attempts()).isEqualTo(2);
    }

    @Test
    void withoutATunnelItWaitsAndUsesUpNoAttempt() throws InterruptedException {
        fixture.cut();
        fixture.runtime.answer(exchange -> exchange.ok("late"));

        Reply reply = fixture.post(PUSH, "{}");

        assertThat(reply.status()).isEqualTo(202);
        assertThat(fixture.runtime.all).isEmpty();
        fixture.restore();
        assertThat(fixture.runtime.next().request.fields().get("culvert-delivery-attempt")).hasToString("1");
        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
    }

    @Test
    void aRefusedConnectionUsesUpNoAttempt() {
        fixture.runtime.answer(exchange -> exchange.fail(
                Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "refused")));

        Reply reply = fixture.post(PUSH, "{}");

        assertThat(reply.status()).isEqualTo(202);
        await().until(() -> entry(reply).outcome().equals("upstream-refused"));
        await().until(() -> fixture.runtime.all.size() >= 2);
        await().until(() -> entry(reply).refused() >= 2);
        assertThat(entry(reply).attempts()).isZero();
        assertThat(fixture.runtime.all)
                .allMatch(sent -> "1".contentEquals(sent.request.fields().get("culvert-delivery-attempt")));
        fixture.runtime.answer(exchange -> exchange.ok("up"));
        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
        assertThat(entry(reply).attempts()).isEqualTo(1);
        assertThat(entry(reply).refused()).isEqualTo(fixture.runtime.all.size() - 1);
    }

    @Test
    void whatIsRefusedForAWeekIsDead() {
        fixture.runtime.answer(exchange -> exchange.fail(
                Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "no such name")));
        Reply reply = fixture.post("/webhooks/argo/invented/", "{}");
        await().until(() -> entry(reply).outcome().equals("upstream-refused"));

        fixture.advance(Duration.ofDays(6));
        await().until(() -> fixture.runtime.all.size() >= 2);
        assertThat(entry(reply).state()).isEqualTo(WebhookState.PENDING);
        fixture.advance(Duration.ofDays(1));

        await().until(() -> entry(reply).state() == WebhookState.DEAD);
        assertThat(entry(reply).attempts()).isZero();
        assertThat(entry(reply).refused()).isEqualTo(fixture.runtime.all.size());
    }

    @Test
    void aLostOneIsRepeatedUnderTheNextNumber() throws InterruptedException {
        fixture.post(PUSH, "{}");

        fixture.runtime.next().fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost"));
        Exchange again = fixture.runtime.next();
        again.ok("there");

        assertThat(again.request.fields().get("culvert-delivery-attempt")).hasToString("2");
    }

    @Test
    void aSourceGetsItsWebhooksInOrderOneAtATime() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            fixture.post("/webhooks/argo/push/" + i, "{}");
        }

        await().until(() -> entries().size() == 5);
        List<String> stored = entries().reversed().stream().map(InboxEntry::target).toList();
        for (String path : stored) {
            Exchange sent = fixture.runtime.next();
            assertThat(sent.path()).isEqualTo(path);
            sent.ok("x");
        }
    }

    @Test
    void aSourceThatFailsAllLosesOneAfterFiveFailures() {
        fixture.runtime.answer(exchange -> exchange.head("500", true));
        Reply first = fixture.post("/webhooks/argo/push/first", "{}");
        first.await();

        for (int failures = 1; failures <= 5; failures++) {
            int now = failures;
            await().until(() -> entry(first).attempts() == now && entry(first).outcome().equals("500"));
            if (failures < RetrySchedule.STEPS_ASIDE) {
                assertThat(entry(first).outOfOrder()).isFalse();
                fixture.advance(Duration.ofMinutes(8));
            }
        }

        await().until(() -> entry(first).outOfOrder());
        assertThat(entry(first).state()).isEqualTo(WebhookState.PENDING);
    }

    @Test
    void aPoisonedOneStepsAsideWhenThoseBehindItPass() {
        fixture.runtime
                .answer(exchange -> exchange.head(exchange.path().contains("bad") ? "500" : "200", true));
        Reply bad = fixture.post("/webhooks/argo/push/bad", "{}");
        bad.await();
        Reply good = fixture.post("/webhooks/argo/push/good", "{}");
        await().until(() -> entry(bad).outcome().equals("500"));
        assertThat(entry(good).state()).isEqualTo(WebhookState.PENDING);
        fixture.advance(Duration.ofSeconds(5));

        await().until(() -> entry(good).state() == WebhookState.DELIVERED);
        assertThat(entry(good).outOfOrder()).isFalse();
        assertThat(entry(bad).outOfOrder()).isTrue();
        assertThat(entry(bad).state()).isEqualTo(WebhookState.PENDING);
        assertThat(entry(bad).attempts()).isEqualTo(2);
        Reply alsoBad = fixture.post("/webhooks/argo/push/bad2", "{}");
        alsoBad.await();
        Reply next = fixture.post("/webhooks/argo/push/next", "{}");
        assertThat(next.status()).as("without waiting for a retry").isEqualTo(200);
        await().until(() -> entry(alsoBad).outOfOrder());
    }

    @Test
    void aDuplicateIsAnsweredLikeTheFirstAndNotDelivered() {
        fixture.runtime.answer(exchange -> exchange.ok("success"));
        Reply first = fixture.post(PUSH, "{}", "x-github-delivery", "d1");
        await().until(() -> entry(first).state() == WebhookState.DELIVERED);

        Reply second = fixture.post(PUSH, "{}", "x-github-delivery", "d1");
        Reply otherBody = fixture.post(PUSH, "{ }", "x-github-delivery", "d1");

        assertThat(second.status()).isEqualTo(200);
        assertThat(second.body()).isEqualTo("success");
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.field("culvert-webhook-duplicate")).isEqualTo("true");
        assertThat(otherBody.id()).isNotEqualTo(first.id());
        assertThat(fixture.runtime.all).hasSize(2);
    }

    @Test
    void anotherKeyMakesNoNewWebhookOfASignedOne() throws Exception {
        fixture.routes = DurableRoutes.of(announced(Verification.Provider.GITHUB));
        fixture.secrets = (runtimeId, route) -> List.of("secret".getBytes(StandardCharsets.US_ASCII));
        fixture.runtime.answer(exchange -> exchange.ok("success"));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec("secret".getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
        String signature = "sha256="
                + HexFormat.of().formatHex(mac.doFinal("{}".getBytes(StandardCharsets.US_ASCII)));
        Reply first = fixture.post(PUSH, "{}", "x-github-delivery", "d1", "x-hub-signature-256", signature);
        await().until(() -> entry(first).state() == WebhookState.DELIVERED);

        Reply otherKey = fixture.post(PUSH, "{}", "x-github-delivery", "d1", "x-hub-signature-256", signature,
                "idempotency-key", "k2");
        assertThat(otherKey.status()).isEqualTo(200);
        assertThat(otherKey.id()).isEqualTo(first.id());
        assertThat(otherKey.field("culvert-webhook-duplicate")).isEqualTo("true");

        Reply other = fixture.post(PUSH, "{}", "x-github-delivery", "d2", "x-hub-signature-256", signature);
        await().until(() -> entry(other).state() == WebhookState.DELIVERED);
        assertThat(fixture.runtime.all).hasSize(2);
    }

    @Test
    void aClockThatWasAheadDelaysNothingOnceItIsRight() {
        fixture.advance(Duration.ofDays(8));
        fixture.runtime.answer(exchange -> exchange.head("500", true));
        Reply reply = fixture.post(PUSH, "{}");
        await().until(() -> entry(reply).outcome().equals("500"));
        fixture.runtime.answer(exchange -> exchange.ok("ok"));

        fixture.advance(Duration.ofDays(-8));

        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
    }

    @Test
    void aClockThatWasAheadDelaysNothingAfterARestart() {
        fixture.advance(Duration.ofDays(8));
        fixture.runtime.answer(exchange -> exchange.head("500", true));
        Reply reply = fixture.post(PUSH, "{}");
        await().until(() -> entry(reply).outcome().equals("500"));
        fixture.close();

        fixture = new InboxFixture(folder);
        fixture.runtime.answer(exchange -> exchange.ok("ok"));
        fixture.tick();

        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
    }

    @Test
    void aDuplicateOfADeadOrAnOldOneIsDelivered() {
        fixture.runtime.answer(exchange -> exchange.head("410", true));
        Reply dead = fixture.post(PUSH, "{}", "webhook-id", "d1");
        await().until(() -> entry(dead).state() == WebhookState.DEAD);
        fixture.runtime.answer(exchange -> exchange.ok("ok"));

        Reply again = fixture.post(PUSH, "{}", "webhook-id", "d1");
        await().until(() -> entry(again).state() == WebhookState.DELIVERED);
        fixture.advance(Duration.ofHours(25));
        Reply old = fixture.post(PUSH, "{}", "webhook-id", "d1");

        assertThat(old.id()).isNotEqualTo(again.id());
    }

    @Test
    void aDeadOneIsReplayed() {
        fixture.runtime.answer(exchange -> exchange.head("400", true));
        Reply reply = fixture.post(PUSH, "{}");
        await().until(() -> entry(reply).state() == WebhookState.DEAD);
        fixture.runtime.answer(exchange -> exchange.ok("ok"));

        fixture.inbox.webhooks().replay(reply.id()).block();

        await().until(() -> entry(reply).state() == WebhookState.DELIVERED);
        assertThat(entry(reply).attempts()).isEqualTo(2);
        StepVerifier.create(fixture.inbox.webhooks().replay("none")).verifyError(StoreException.Absent.class);
    }

    @Test
    void aDeletedOneIsGoneAndNeverSent() {
        fixture.cut();
        Reply reply = fixture.post(PUSH, "{}");
        reply.await();

        fixture.inbox.webhooks().delete(reply.id()).block();
        fixture.restore();

        StepVerifier.create(fixture.inbox.webhooks().entry(reply.id())).verifyComplete();
        Reply next = fixture.post(PUSH, "{}");
        await().until(() -> fixture.runtime.all.size() == 1);
        assertThat(fixture.runtime.all.getFirst().request.fields().get("culvert-webhook-id")).isNotNull();
        fixture.runtime.all.getFirst().ok("x");
        assertThat(next.status()).isEqualTo(200);
    }

    @Test
    void aPausedSourceGetsNothingUntilItIsResumed() {
        fixture.runtime.answer(exchange -> exchange.ok("ok"));
        fixture.inbox.webhooks().pause(InboxFixture.RUNTIME, "argo/push").block();

        Reply paused = fixture.post(PUSH, "{}");
        Reply other = fixture.post("/webhooks/argo/other/", "{}");

        assertThat(other.status()).isEqualTo(200);
        assertThat(paused.status()).isEqualTo(202);
        assertThat(fixture.runtime.all).hasSize(1);
        fixture.inbox.webhooks().resume(InboxFixture.RUNTIME, "argo/push").block();
        await().until(() -> entry(paused).state() == WebhookState.DELIVERED);
    }

    @Test
    void aWrongSignatureIsRefusedBeforeItIsStored() {
        fixture.routes = DurableRoutes.of(announced());
        fixture.secrets = (runtimeId, route) -> List.of("secret".getBytes(StandardCharsets.US_ASCII));
        fixture.runtime.answer(exchange -> exchange.ok("ok"));

        assertThat(fixture.post(PUSH, "{}", "x-gitlab-token", "wrong").status()).isEqualTo(401);
        assertThat(entries()).isEmpty();
        assertThat(fixture.post(PUSH, "{}", "x-gitlab-token", "secret").status()).isEqualTo(200);
    }

    @Test
    void whatTheClusterDoesNotAllowIsRefused() {
        fixture.routes = DurableRoutes.of(announced());

        Reply refused = fixture.post("/webhooks/other/push/", "{}");

        assertThat(refused.status()).isEqualTo(403);
        assertThat(entries()).isEmpty();
    }

    @Test
    void otherRequestsPassAndAMarkedOneIsNotStoredAgain() throws InterruptedException {
        fixture.send("GET", PUSH, "", false, "culvert-webhook-id", "x");
        assertThat(fixture.direct.next().request.fields().get("culvert-webhook-id")).isNull();

        fixture.send("POST", PUSH, "{}", true, "culvert-webhook-id", "x");
        assertThat(fixture.direct.next().request.fields().get("culvert-webhook-id")).hasToString("x");
        assertThat(entries()).isEmpty();
    }

    @Test
    void whatHappensIsToldAndCounted() {
        fixture.runtime.answer(exchange -> exchange.ok("ok"));

        StepVerifier.create(fixture.inbox.webhooks().events().map(InboxEvent::kind).take(2))
                .then(() -> fixture.post(PUSH, "{}"))
                .expectNext(InboxEvent.Kind.STORED, InboxEvent.Kind.DELIVERED)
                .expectComplete()
                .verify(Duration.ofSeconds(10));

        fixture.tick();
        await().until(
                () -> fixture.meters.get("culvert.webhooks").tag("state", "delivered").gauge().value() == 1);
        assertThat(fixture.meters.get("culvert.webhook.delivery").timer().count()).isEqualTo(1);
    }

    @Test
    void aDeletedRuntimeLeavesNothing() {
        fixture.cut();
        for (int i = 0; i < Retention.CHUNK + 5; i++) {
            fixture.post(PUSH + i, "{}").await();
        }

        fixture.inbox.webhooks().forget(InboxFixture.RUNTIME).block();

        assertThat(entries()).isEmpty();
        fixture.tick();
        await().until(() -> fixture.counts().getOrDefault(WebhookState.PENDING, 9L) == 0);
    }

    @Test
    void aListIsReadPageByPage() {
        fixture.cut();
        for (int i = 0; i < 5; i++) {
            fixture.post("/webhooks/argo/push/" + i, "{}").await();
        }

        InboxPage first = await(fixture.inbox.webhooks().list(InboxQuery.of(WebhookState.PENDING, 3)));
        InboxPage second = await(fixture.inbox.webhooks()
                .list(
                        new InboxQuery(null, InboxFixture.RUNTIME, "argo/push", first.next(), 3)));

        assertThat(first.entries()).extracting(InboxEntry::target)
                .containsExactly("/webhooks/argo/push/4", "/webhooks/argo/push/3", "/webhooks/argo/push/2");
        assertThat(second.entries()).extracting(InboxEntry::target)
                .containsExactly("/webhooks/argo/push/1", "/webhooks/argo/push/0");
        assertThat(second.next()).isNull();
    }

    /** Webhooks of the namespace argo alone, signed as GitLab does. */
    private static Announcement announced() {
        return announced(Verification.Provider.GITLAB);
    }

    private static Announcement announced(Verification.Provider provider) {
        var route = new AnnouncedRoute(RouteRule.of("/webhooks/{namespace}/{eventSource}/"), true, true,
                1 << 20,
                new Verification(provider, null), SourceList.parse(List.of()),
                HostTemplate.of("{eventSource}.{namespace}.svc"));
        return new Announcement(List.of(route), List.of("argo/*"), RequestPolicy.OPEN);
    }

    private List<InboxEntry> entries() {
        return await(fixture.inbox.webhooks().list(InboxQuery.of(null, 200))).entries();
    }

    private InboxEntry entry(Reply reply) {
        return await(fixture.inbox.webhooks().entry(reply.id()));
    }
}

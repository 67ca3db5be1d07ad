package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.inbox.model.BulkResult;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.store.StoreException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Changes of many webhooks at once. */
class BulkTest {
    private static final String PUSH = "/webhooks/argo/push/";
    private static final String OTHER = "/webhooks/argo/other/";
    private static final int ALL = 10_000;

    @TempDir
    Path folder;
    private @Nullable InboxFixture open;
    private final List<String> delivered = new CopyOnWriteArrayList<>();

    private InboxFixture fixture() {
        return fixture(InboxFixture.CONFIG);
    }

    private InboxFixture fixture(InboxConfig config) {
        var fixture = new InboxFixture(folder, config, new MovableClock());
        open = fixture;
        await().until(fixture.inbox::isDelivering);
        return fixture;
    }

    @AfterEach
    void close() {
        if (open != null) {
            open.close();
        }
    }

    /** Webhooks that their event source refuses for good, with the paths {@code …/from}, {@code …/from+1}. */
    private List<String> dead(InboxFixture fixture, String path, int from, int count) {
        fixture.runtime.answer(exchange -> exchange.head("400", true));
        List<String> ids = IntStream.range(from, from + count)
                .mapToObj(i -> fixture.post(path + i, "{}").await().id())
                .toList();
        await().until(() -> entries(fixture, null).stream()
                .noneMatch(entry -> entry.state() == WebhookState.PENDING));
        return ids;
    }

    @Test
    void pendingWebhooksAreNotReplayed() {
        InboxFixture fixture = fixture();
        var pending = new WebhookFilter(List.of(), null, null, WebhookState.PENDING, null, null);

        assertThatThrownBy(() -> await(fixture.inbox.webhooks().replay(pending, null, ALL)))
                .isInstanceOf(StoreException.Conflict.class);
        assertThatThrownBy(() -> await(fixture.inbox.webhooks().countReplays(pending)))
                .isInstanceOf(StoreException.Conflict.class);
    }

    private void accept(InboxFixture fixture) {
        fixture.runtime.answer(exchange -> {
            delivered.add(String.valueOf(exchange.request.fields().path()));
            exchange.ok("ok");
        });
    }

    private static List<InboxEntry> entries(InboxFixture fixture, @Nullable WebhookState state) {
        List<InboxEntry> all = new ArrayList<>();
        var page = await(fixture.inbox.webhooks().list(InboxQuery.of(state, 200)));
        all.addAll(page.entries());
        while (page.next() != null) {
            page = await(fixture.inbox.webhooks()
                    .list(new InboxQuery(state, null, null, page.next(), 200)));
            all.addAll(page.entries());
        }
        return all;
    }

    private static List<String> paths(String path, int from, int count) {
        return IntStream.range(from, from + count).mapToObj(i -> path + i).toList();
    }

    private static WebhookFilter of(String source) {
        return WebhookFilter.of(InboxFixture.RUNTIME, source, null);
    }

    private static WebhookFilter ids(List<String> ids) {
        return new WebhookFilter(ids, null, null, null, null, null);
    }

    private static BulkResult replay(InboxFixture fixture, WebhookFilter filter, @Nullable String after,
            int limit) {
        return await(fixture.inbox.webhooks().replay(filter, after, limit));
    }

    @Test
    void theDeadOfOneSourceAreDeliveredOnceInOrder() {
        InboxFixture fixture = fixture();
        dead(fixture, PUSH, 0, 230);
        dead(fixture, OTHER, 0, 3);
        accept(fixture);

        assertThat(await(fixture.inbox.webhooks().countReplays(of("argo/push")))).isEqualTo(230);
        BulkResult done = replay(fixture, of("argo/push"), null, ALL);

        assertThat(done).isEqualTo(new BulkResult(230, 0, null));
        await().until(() -> entries(fixture, WebhookState.DELIVERED).size() == 230);
        assertThat(delivered).containsExactlyElementsOf(paths(PUSH, 0, 230));
        assertThat(entries(fixture, WebhookState.DEAD)).hasSize(3);
    }

    @Test
    void concurrentReplaysOfTheSameDeliverEachOnce() {
        InboxFixture fixture = fixture();
        dead(fixture, PUSH, 0, 230);
        accept(fixture);
        var webhooks = fixture.inbox.webhooks();

        long replayed = await(Mono.zip(webhooks.replay(of("argo/push"), null, ALL),
                webhooks.replay(of("argo/push"), null, ALL),
                (one, other) -> one.changed() + other.changed()));

        assertThat(replayed).isEqualTo(230);
        await().until(() -> entries(fixture, WebhookState.DELIVERED).size() == 230);
        assertThat(delivered).containsExactlyElementsOf(paths(PUSH, 0, 230));
    }

    @Test
    void aCallGoesOnWhereTheLastOneEnded() {
        InboxFixture fixture = fixture();
        dead(fixture, PUSH, 0, 5);

        BulkResult first = replay(fixture, of("argo/push"), null, 2);
        await().until(() -> entries(fixture, WebhookState.DEAD).size() == 5); // the two died again
        BulkResult second = replay(fixture, of("argo/push"), first.next(), ALL);

        assertThat(first.changed()).isEqualTo(2);
        assertThat(second).isEqualTo(new BulkResult(3, 0, null));
        await().until(() -> fixture.runtime.all.size() == 10);
        assertThatThrownBy(() -> replay(fixture, of("argo/push"), "1-2-9-3", ALL))
                .hasStackTraceContaining("next: not that of a response");
    }

    @Test
    void timesAreThoseOfTheDeath() {
        InboxFixture fixture = fixture();
        dead(fixture, PUSH, 0, 2);
        fixture.advance(Duration.ofMinutes(1));
        Instant noon = fixture.clock.instant();
        dead(fixture, PUSH, 2, 3);
        fixture.advance(Duration.ofMinutes(1));
        Instant later = fixture.clock.instant();
        dead(fixture, PUSH, 5, 1);
        accept(fixture);

        assertThat(replay(fixture, new WebhookFilter(List.of(), null, null, WebhookState.DEAD, noon, later),
                null, ALL).changed()).isEqualTo(3);

        await().until(() -> delivered.size() == 3);
        assertThat(delivered).containsExactlyElementsOf(paths(PUSH, 2, 3));
    }

    @Test
    void idsAreReplayedOldestFirstAndUnknownOnesSkipped() {
        InboxFixture fixture = fixture();
        List<String> ids = dead(fixture, PUSH, 0, 3);
        accept(fixture);
        String fresh = fixture.post(PUSH + "fresh", "{}").await().id();
        await().until(() -> entries(fixture, WebhookState.DELIVERED).size() == 1);
        delivered.clear();

        BulkResult done = replay(fixture,
                ids(List.of(ids.get(2), fresh, UUID.randomUUID().toString(), ids.get(0))), null, ALL);

        assertThat(done).isEqualTo(new BulkResult(3, 1, null));
        await().until(() -> delivered.size() == 3);
        assertThat(delivered).containsExactly(PUSH + "0", PUSH + "2", PUSH + "fresh");
    }

    @Test
    void halfOfALimitStaysFreeForNewWebhooks() {
        InboxFixture fixture = fixture(ofSource("1MiB"));
        fixture.runtime.answer(exchange -> exchange.head("400", true));
        String body = "x".repeat(60_000);
        for (int i = 0; i < 12; i++) {
            fixture.post(PUSH + i, body).await();
        }
        await().until(() -> entries(fixture, WebhookState.DEAD).size() == 12);
        fixture.cut();

        BulkResult first = replay(fixture, of("argo/push"), null, ALL);

        assertThat(first.changed()).isEqualTo(8);
        assertThat(first.next()).isNotNull();
        assertThatThrownBy(() -> replay(fixture, of("argo/push"), first.next(), ALL))
                .isInstanceOf(StoreException.Busy.class)
                .hasMessageContaining("half of inbox.maxSourceBytes");
        assertThat(fixture.post(PUSH + "new", body).status()).isEqualTo(202);
        accept(fixture);
        fixture.restore();
        await().until(() -> delivered.size() == 9);
        assertThat(replay(fixture, of("argo/push"), first.next(), ALL)).isEqualTo(new BulkResult(4, 0, null));
        await().until(() -> delivered.size() == 13);
    }

    @Test
    void thoseOfAFilterArePurged() {
        InboxFixture fixture = fixture();
        dead(fixture, PUSH, 0, 210);
        dead(fixture, OTHER, 0, 1);
        fixture.cut();
        fixture.post(PUSH + "pending", "{}").await();
        var webhooks = fixture.inbox.webhooks();
        WebhookFilter allDead = new WebhookFilter(List.of(), null, null, WebhookState.DEAD, null, null);

        assertThat(await(webhooks.countPurged(of("argo/push")))).isEqualTo(211);
        assertThat(await(webhooks.countPurged(allDead))).isEqualTo(211);
        assertThat(await(webhooks.purge(of("argo/push").in(WebhookState.DEAD), null, ALL)).changed())
                .isEqualTo(210);
        assertThat(entries(fixture, null)).extracting(InboxEntry::target)
                .containsExactly(PUSH + "pending", OTHER + "0");
        assertThat(await(webhooks.purge("r1", "argo/push", null))).isEqualTo(1);
        assertThat(entries(fixture, null)).extracting(InboxEntry::target).containsExactly(OTHER + "0");
    }

    private static InboxConfig ofSource(String bytes) {
        InboxConfig usual = InboxConfig.defaults();
        return new InboxConfig(usual.maxRuntimeBytes(), ByteSize.parse(bytes), usual.maxSources(),
                usual.memory(), usual.perAddress(), usual.answerWithin(), usual.attemptTimeout(),
                usual.maxAttempts(), usual.keepDead(), usual.keepDelivered(), usual.keepDeliveredBytes());
    }
}

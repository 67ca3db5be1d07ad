package dev.culvert.platform.triggers.hermes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.host.spi.Rewrapping;
import dev.culvert.platform.host.store.OutboxLimits;
import dev.culvert.platform.triggers.TestPlatform;
import dev.culvert.platform.triggers.registry.RegistryKind;
import dev.culvert.platform.triggers.store.DeliveryTable;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.RefusalTable;
import dev.culvert.platform.triggers.store.RunTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import dev.culvert.platform.triggers.store.StoredRun;
import dev.culvert.platform.triggers.store.StoredRun.State;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.StoreException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@ParameterizedClass
@EnumSource
class HermesTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";

    private final Engine engine;
    private final Pipelines pipelines = new Pipelines();

    @TempDir
    Path folder;
    private @Nullable TestPlatform platform;

    HermesTest(Engine engine) {
        this.engine = engine;
    }

    @AfterEach
    void close() {
        if (platform != null) {
            platform.close();
        }
    }

    /** Pipelines that answer what they are told to, else start. */
    private static final class Pipelines implements PipelineRuns {
        private final Queue<HandlerException> failures = new ConcurrentLinkedQueue<>();
        private final Queue<Start> started = new ConcurrentLinkedQueue<>();

        @Override
        public Mono<Void> require(String account, String pipeline) {
            return pipeline.startsWith("no/")
                    ? Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is no such pipeline"))
                    : Mono.empty();
        }

        @Override
        public Mono<String> start(Start start) {
            return Mono.defer(() -> {
                HandlerException failure = failures.poll();
                if (failure != null) {
                    return Mono.error(failure);
                }
                started.add(start);
                return Mono.just("build of " + start.key());
            });
        }
    }

    /** The parts of the module. */
    private record Parts(TestPlatform platform, EventBook book, Hermes hermes, EventSecrets secrets) {
        String event(String name) {
            return created(name).event().uri();
        }

        EventBook.Created created(String name) {
            return Objects.requireNonNull(book
                    .create(ACCOUNT, "registry", "quay", "a secret",
                            Map.of("namespace", "acme", "name", name))
                    .block(TIME));
        }

        void link(String event, String pipeline) {
            book.link(ACCOUNT, event, pipeline, Map.of()).block(TIME);
        }

        Outcome take(String event, @Nullable String delivery) {
            return Objects.requireNonNull(
                    hermes.take(ACCOUNT, new Happening(event, delivery, Map.of(), Map.of("TAG", "v1"), null))
                            .block(TIME));
        }

        List<StoredRun> runs() {
            return Objects.requireNonNull(platform.store.read(connection -> RunTable.page(connection, ACCOUNT,
                    new RunTable.Which(null, null), "", 1_000)).block(TIME));
        }
    }

    private Parts parts(OutboxLimits limits) {
        var made = new TestPlatform(engine, folder, limits);
        platform = made;
        var secrets = new EventSecrets(made.store, made.wrapping);
        var hermes = new Hermes(made.store, made.feed.of("triggers"), made.outbox.of("triggers"), pipelines,
                secrets, Clock.systemUTC(), made.registry);
        var book = new EventBook(made.store, made.feed.of("triggers"), pipelines, secrets,
                RegistryKind.all(""), Clock.systemUTC());
        return new Parts(made, book, hermes, secrets);
    }

    private Parts parts() {
        return parts(OutboxLimits.defaults());
    }

    @Test
    void aRunIsStartedUntilThePipelinesHaveIt() {
        Parts parts = parts();
        pipelines.failures.add(HandlerException.of(Reason.UNAVAILABLE, "not now"));
        String event = parts.event("web");
        parts.link(event, "shop/web");
        parts.platform.outbox.start();

        String id = parts.take(event, "d").runs().getFirst().id();

        await().atMost(TIME).until(() -> parts.runs().getFirst().state() == State.STARTED);
        assertThat(parts.runs()).singleElement()
                .extracting(StoredRun::id, StoredRun::build)
                .containsExactly(id, "build of " + id);
        assertThat(pipelines.started).containsExactly(
                new PipelineRuns.Start(ACCOUNT, "shop/web", Map.of("TAG", "v1"), event, id));
    }

    @Test
    void aRunThatThePipelinesRefuseSaysWhy() {
        Parts parts = parts();
        pipelines.failures.add(HandlerException.of(Reason.NOT_FOUND, "there is no such pipeline any more"));
        String event = parts.event("web");
        parts.link(event, "shop/web");
        parts.platform.outbox.start();

        parts.take(event, null);

        await().atMost(TIME).until(() -> parts.runs().getFirst().state() == State.REFUSED);
        assertThat(parts.runs().getFirst().why()).isEqualTo("there is no such pipeline any more");
        assertThatThrownBy(() -> parts.link(event, "no/such")).hasMessage("there is no such pipeline");
    }

    /** What can't be kept is not acknowledged, and nothing of it is left. */
    @Test
    void aDeliveryThatTheOutboxHasNoRoomForIsRefusedWhole() {
        OutboxLimits usual = OutboxLimits.defaults();
        Parts parts = parts(new OutboxLimits(usual.all(), 3, usual.concurrent(), usual.concurrentPerAccount(),
                usual.timeout(), usual.firstPause(), usual.lastPause(), usual.maxAge()));
        String event = parts.event("web");
        parts.link(event, "shop/a");
        parts.link(event, "shop/b");
        parts.take(event, "1");

        assertThatThrownBy(() -> parts.take(event, "2")).isInstanceOfSatisfying(HandlerException.class,
                refused -> assertThat(refused.reason()).isEqualTo(Reason.OVERLOADED));

        assertThat(parts.runs()).hasSize(2);
        assertThat(parts.platform.count("triggers_delivery")).isEqualTo(1);
        parts.platform.outbox.start();
        await().atMost(TIME).until(() -> pipelines.started.size() == 2);
        await().atMost(TIME).until(() -> parts.platform.count("platform_outbox") == 0);
        assertThat(parts.take(event, "2").isRepeated()).isFalse();
    }

    @Test
    void manyAtOnceStartOnce() {
        Parts parts = parts();
        String event = parts.event("web");
        parts.link(event, "shop/web");

        List<Outcome> outcomes = Objects.requireNonNull(Flux.range(0, 50)
                .flatMap(i -> parts.hermes.take(ACCOUNT,
                        new Happening(event, "same", Map.of(), Map.of(), null)), 50)
                .collectList()
                .block(TIME));

        assertThat(outcomes).filteredOn(outcome -> !outcome.isRepeated()).hasSize(1);
        assertThat(outcomes).extracting(outcome -> outcome.runs().getFirst().id())
                .containsOnly(
                        parts.runs().getFirst().id());
        assertThat(parts.runs()).hasSize(1);
    }

    @Test
    void theOldestRowsOfAnAccountGo() {
        Parts parts = parts();
        String event = parts.event("web");
        String count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ";
        parts.platform.execute(count.formatted(RefusalTable.KEPT) + "INSERT INTO triggers_refusal"
                + " (account, id, event, delivery, why, created, place)"
                + " SELECT '" + ACCOUNT + "', CAST(i AS TEXT), 'e', 'd', 'w', 0, i FROM n",
                count.formatted(RunTable.KEPT) + "INSERT INTO triggers_run"
                        + " (account, id, event, delivery, pipeline, variables, state, created, place)"
                        + " SELECT '" + ACCOUNT + "', CAST(i AS TEXT), 'e', CAST(i AS TEXT), 'p', '{}',"
                        + " CASE WHEN i < 3 THEN 'WAITING' ELSE 'STARTED' END, 0, i FROM n");

        for (int i = 0; i < 5; i++) {
            parts.take(event, null); // starts nothing
        }
        parts.link(event, "shop/web");
        for (int i = 0; i < 5; i++) {
            parts.take(event, null);
        }

        assertThat(parts.platform.count("triggers_refusal")).isEqualTo(RefusalTable.KEPT);
        assertThat(parts.platform.count("triggers_run")).isEqualTo(RunTable.KEPT + 2);
        assertThat(parts.platform.count("triggers_run WHERE state = 'WAITING'")).isEqualTo(7);
    }

    @Test
    void deliveriesAreKnownForSevenDaysUnlessThereAreTooMany() {
        Parts parts = parts();
        String event = parts.event("web");
        long now = System.currentTimeMillis();
        String fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                + (DeliveryTable.MAX - 1) + ") INSERT INTO triggers_delivery"
                + " (account, event, delivery, created, place) SELECT '" + ACCOUNT + "', '" + event
                + "', CAST(i AS TEXT), %d, i FROM n";
        parts.platform.execute(fill.formatted(now - Duration.ofDays(2).toMillis()));

        assertThat(parts.take(event, "1").isRepeated()).isTrue();
        parts.take(event, "new 1");
        parts.take(event, "new 2"); // the oldest give way: they are older than a day
        assertThat(parts.take(event, "1").isRepeated()).isFalse();

        parts.platform.execute("DELETE FROM triggers_delivery", fill.formatted(now));
        parts.take(event, "new 3");
        assertThatThrownBy(() -> parts.take(event, "new 4")).isInstanceOfSatisfying(HandlerException.class,
                refused -> assertThat(refused.reason()).isEqualTo(Reason.RATE_LIMITED));

        parts.platform
                .execute("UPDATE triggers_delivery SET created = " + (now - Duration.ofDays(8).toMillis())
                        + " WHERE place < 50");
        parts.take(event, "new 4");
        assertThat(parts.platform.count("triggers_delivery WHERE place < 50")).isZero();
    }

    @Test
    void anAccountHasSoManyEventsAndTriggers() {
        Parts parts = parts();
        String event = parts.event("web");
        String count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ";
        parts.platform.execute(count.formatted(EventBook.MAX_EVENTS - 1) + "INSERT INTO triggers_event"
                + " (uri, account, type, kind, details, secret, created) SELECT 'e' || i, '" + ACCOUNT
                + "', 't', 'k', '', '', 0 FROM n",
                count.formatted(EventBook.MAX_OF_EVENT) + "INSERT INTO triggers_trigger"
                        + " (account, event, pipeline, filters, created) SELECT '" + ACCOUNT + "', '" + event
                        + "', 'p' || i, '{}', 0 FROM n");

        assertThatThrownBy(() -> parts.event("more")).isInstanceOf(StoreException.Full.class)
                .hasMessageContaining("1000 events");
        assertThatThrownBy(() -> parts.link(event, "p")).isInstanceOf(StoreException.Full.class)
                .hasMessageContaining("100 pipelines");
        parts.link(event, "p1"); // replaces filters

        parts.platform.execute("DELETE FROM triggers_trigger",
                count.formatted(EventBook.MAX_TRIGGERS) + "INSERT INTO triggers_trigger"
                        + " (account, event, pipeline, filters, created) SELECT '" + ACCOUNT
                        + "', 'e', 'p' || i, '{}', 0 FROM n");
        assertThatThrownBy(() -> parts.link(event, "p")).isInstanceOf(StoreException.Full.class)
                .hasMessageContaining("10000 triggers");
    }

    @Test
    void secretsAreWrappedByTheKeyInForce() {
        Parts parts = parts();
        String event = parts.event("web");
        Rewrapping rewrapping = parts.secrets.rewrapping();
        rewrapping.run().block(TIME);

        parts.platform.wrapping.key = "two";
        rewrapping.run().block(TIME);

        StoredEvent stored = Objects.requireNonNull(parts.platform.store
                .read(connection -> Objects.requireNonNull(EventTable.find(connection, event)))
                .block(TIME));
        assertThat(stored.secret()).startsWith("two>");
        assertThat(parts.secrets.of(stored).block(TIME)).isEqualTo("a secret");
        parts.platform.execute("UPDATE triggers_event SET secret = 'one>nonsense'");
        parts.platform.wrapping.key = "three";
        rewrapping.run().block(TIME);
        assertThat(rewrapping.troubles()).singleElement()
                .asString()
                .startsWith("1 secrets of events can't be unwrapped");
    }
}

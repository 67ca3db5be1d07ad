package dev.culvert.server.store;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.Sha256;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.DurableMatch;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.StoredToken;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What runtimes announce, and what is left of it. */
class AnnouncedRoutesTest {
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"), "acme-prod.t.example", List.of(),
            Instant.EPOCH);
    private static final byte[] NOTHING_DURABLE = new Announcement(List.of(), List.of(), RequestPolicy.OPEN)
            .toJson();
    private static final byte[] ARGO_ALLOWED = new Announcement(List.of(), List.of("argo/*"),
            RequestPolicy.OPEN)
            .toJson();

    private final AtomicInteger changes = new AtomicInteger();
    @TempDir
    Path folder;
    private SqliteRuntimeStore store;
    private AnnouncedRoutes announced;

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(),
                Clock.systemUTC()));
        announced = await(store.announcements());
    }

    @AfterEach
    void close() {
        store.close().block();
    }

    private void create() {
        store.create(PROD, new StoredToken("t1", Sha256.of(new byte[1]), PROD.id(),
                Instant.now().truncatedTo(ChronoUnit.MILLIS), null, null)).block();
    }

    private boolean isDurable() {
        return announced.of(PROD.id())
                .match("POST", "h", "/webhooks/a/b") instanceof DurableMatch.DurableRoute;
    }

    @Test
    void webhooksAreDurableUntilSomethingElseIsSaid() {
        create();
        assertThat(isDurable()).isTrue();

        announced.announced(PROD, NOTHING_DURABLE, changes::incrementAndGet);

        Awaitility.await().until(() -> announced.of(PROD.id()).isEmpty());
        close();
        open();
        assertThat(announced.of(PROD.id()).isEmpty()).isTrue();
        announced.forget(PROD.id());
        assertThat(isDurable()).isTrue();
    }

    @Test
    void whatIsNotUnderstoodChangesNothing() {
        create();
        announced.announced(PROD, NOTHING_DURABLE, changes::incrementAndGet);
        Awaitility.await().until(() -> announced.of(PROD.id()).isEmpty());

        announced.announced(PROD, "{\"routes\":7}".getBytes(StandardCharsets.UTF_8),
                changes::incrementAndGet);
        announced.announced(PROD, new byte[0], changes::incrementAndGet);

        Awaitility.await()
                .during(Duration.ofMillis(1500))
                .until(() -> announced.of(PROD.id()).isEmpty());
        assertThat(changes).hasValue(1);
    }

    @Test
    void whatIsAnnouncedAnewIsAChange() {
        create();
        announced.announced(PROD, NOTHING_DURABLE, changes::incrementAndGet);
        Awaitility.await().until(() -> changes.get() == 1);

        announced.announced(PROD, ARGO_ALLOWED, changes::incrementAndGet);

        Awaitility.await().until(() -> changes.get() == 2);
    }

    @Test
    void ofManyTheNewestCounts() {
        create();
        for (int i = 0; i < 1000; i++) {
            announced.announced(PROD, ("{\"routes\":" + i + "}").getBytes(StandardCharsets.UTF_8),
                    changes::incrementAndGet);
        }
        announced.announced(PROD, NOTHING_DURABLE, changes::incrementAndGet);

        Awaitility.await().until(() -> announced.of(PROD.id()).isEmpty());
    }

    @Test
    void nothingIsKeptOfARuntimeThatWasDeleted() {
        create();
        store.delete(PROD.name()).block();
        announced.announced(PROD, NOTHING_DURABLE, changes::incrementAndGet);
        close();
        open();

        assertThat(isDurable()).isTrue();
    }
}

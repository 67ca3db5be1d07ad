package dev.culvert.platform.runtimes.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.runtimes.StubServer;
import dev.culvert.platform.runtimes.store.AccountTable;
import dev.culvert.platform.runtimes.store.Credential;
import dev.culvert.platform.runtimes.store.EndedRuntime;
import dev.culvert.platform.runtimes.store.RuntimeTable;
import dev.culvert.platform.runtimes.store.RuntimesSchema;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.postgres.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** Comparisons, on both engines. */
@ParameterizedClass
@EnumSource
class ReconcilerIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final Instant NOW = Instant.parse("2026-11-25T12:00:00Z");
    private static final long LONG_AGO = NOW.getEpochSecond() - 3600;
    private static final Credential LIVE = new Credential("id", "hash", NOW.getEpochSecond() + 60);
    private static final Credential ENDED = new Credential("id", "hash", NOW.getEpochSecond() - 60);

    @TempDir
    Path folder;
    private final StubServer server = new StubServer();
    private final EventLoops loops = EventLoops.create(1);
    private final Messages outbox = new Messages();
    private final AtomicInteger allLocked = new AtomicInteger();
    private final Engine engine;
    private OutboundCalls calls;
    private PlatformStore store;
    private Reconciler reconciler;

    ReconcilerIT(Engine engine) {
        this.engine = engine;
    }

    /** Counts the changes that exclude those of all accounts. */
    private record Watched(Store store, AtomicInteger allLocked) implements Store {
        @Override
        public <T> Mono<T> read(Work<T> work) {
            return store.read(work);
        }

        @Override
        public <T> Mono<T> change(Work<T> work) {
            allLocked.incrementAndGet();
            return store.change(work);
        }

        @Override
        public <T> Mono<T> change(String account, Work<T> work) {
            return store.change(account, work);
        }
    }

    @Test
    void repairsLockTheirAccountsAlone() {
        for (String name : List.of("r0", "r1", "r2", "r3")) {
            stored(name, ServerState.READY, LIVE);
        }
        List.of("r0", "r1").forEach(this::atServer);
        server.connected.add("acme/r0");
        ended("gone", LONG_AGO, null);
        ended("there", LONG_AGO, null);
        atServer("there");

        assertThat(compared().repaired()).isEqualTo(3);

        assertThat(outbox.added).hasSize(3);
        assertThat(allLocked).hasValue(0);
    }

    /** Keeps the messages. */
    private static final class Messages implements Outbox {
        final List<ServerMessage> added = new ArrayList<>();

        @Override
        public void add(Connection change, String account, String target, String body) {
            added.add(ServerMessage.parse(body));
        }

        @Override
        public boolean isWaiting(Connection connection, String account, String target) {
            return false;
        }

        @Override
        public void deliver(Courier courier) {}
    }

    @BeforeEach
    void open() throws IOException {
        Path token = folder.resolve("registrar.token");
        Files.writeString(token, StubServer.TOKEN);
        Clock clock = Clock.fixed(NOW, ZoneOffset.UTC);
        calls = new OutboundCalls("test", 4, 10, loops, TlsContexts.client(null));
        var tables = new ModuleTables(new LinkedHashMap<>(Map.of("runtimes", RuntimesSchema.VERSIONS)));
        store = get(switch (engine) {
            case SQLITE -> PlatformStore.open(folder.resolve("platform.db"), tables,
                    new SqliteLimits(100, Duration.ofSeconds(5)), clock);
            case POSTGRES -> DatabaseEngine.open(Engine.POSTGRES, TestServer.database(), tables.postgres())
                    .map(PlatformStore::of);
        });
        reconciler = new Reconciler(new ServerApi(calls, server.url(), token), new Watched(store, allLocked),
                outbox,
                (account, name) -> "http://hosted.test", clock);
    }

    @AfterEach
    void close() {
        store.close().block(TIME);
        calls.close().block(TIME);
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(TIME);
        server.close();
    }

    @Test
    void listsThatAgreeGiveNothingToDo() {
        IntStream.range(0, 10).forEach(i -> {
            stored("r" + i, ServerState.READY, LIVE);
            atServer("r" + i);
        });
        stored("ingress", ServerState.NONE, null);
        stored("new", ServerState.PENDING, LIVE);

        assertThat(compared()).isEqualTo(Differences.NONE);
        assertThat(outbox.added).isEmpty();
        assertThat(reconciler.troubles()).isEmpty();
    }

    @Test
    void aRuntimeThatTheServerLostIsCreatedAgainWhileItsTokenIsGood() {
        stored("prod", ServerState.READY, LIVE);

        assertThat(compared().repaired()).isEqualTo(1);

        assertThat(outbox.added).containsExactly(
                new ServerMessage.Create("acme", "prod", null));
        assertThat(found("prod").serverState()).isEqualTo(ServerState.PENDING);
        assertThat(compared()).isEqualTo(Differences.NONE);
    }

    @Test
    void aCredentialIsForgottenWhenAClientHasEnrolled() {
        for (String name : List.of("connected", "waiting", "pending")) {
            stored(name, name.equals("pending") ? ServerState.PENDING : ServerState.READY, LIVE);
            atServer(name);
        }
        server.connected.addAll(List.of("acme/connected", "acme/pending"));

        assertThat(compared()).isEqualTo(Differences.NONE);

        List<StoredRuntime> left = read(connection -> RuntimeTable.enrolling(connection, "", "", 10));
        assertThat(left).extracting(StoredRuntime::name).containsExactly("waiting");
        Optional<Credential> pending = read(connection -> Optional
                .ofNullable(RuntimeTable.credential(connection, "acme", "pending")));
        assertThat(pending).contains(LIVE);
    }

    @Test
    void aRuntimeWhoseTokenHasExpiredIsReported() {
        stored("prod", ServerState.READY, ENDED);

        assertThat(compared().missing().names()).containsExactly("acme/prod");
        assertThat(outbox.added).isEmpty();
        assertThat(reconciler.troubles()).singleElement().asString().contains("acme/prod");
        Optional<Credential> left = read(connection -> Optional
                .ofNullable(RuntimeTable.credential(connection, "acme", "prod")));
        assertThat(left).isEmpty();
    }

    @Test
    void aDeletedRuntimeThatTheServerHasIsDeletedAgain() {
        ended("gone", LONG_AGO, null);
        atServer("gone");

        assertThat(compared().repaired()).isEqualTo(1);

        assertThat(outbox.added).containsExactly(new ServerMessage.Delete("acme", "gone", false));
    }

    @Test
    void aDeletedRuntimeThatTheServerDoesNotHaveIsForgotten() {
        ended("gone", LONG_AGO, null);
        ended("just", NOW.getEpochSecond(), null);

        assertThat(compared()).isEqualTo(Differences.NONE);

        List<EndedRuntime> left = read(connection -> AccountTable.ended(connection, "", "", 10));
        assertThat(left).extracting(EndedRuntime::name).containsExactly("just");
    }

    @Test
    void whatTheServerKeepsOrRefusesIsReported() {
        ended("kept", LONG_AGO, "it has 2 pending webhooks");
        atServer("kept");
        stored("refused", ServerState.REFUSED, LIVE);

        Differences found = compared();

        assertThat(found.kept().names()).containsExactly("acme/kept: it has 2 pending webhooks");
        assertThat(found.refused().names()).containsExactly("acme/refused");
        assertThat(outbox.added).containsExactly(new ServerMessage.Delete("acme", "kept", false));
    }

    @Test
    void aServerThatHasNoneOfManyIsTakenForAMistake() {
        IntStream.range(0, 6).forEach(i -> stored("r" + i, ServerState.READY, LIVE));

        assertThatThrownBy(this::compared).hasRootCauseInstanceOf(IOException.class);

        assertThat(outbox.added).isEmpty();
        assertThat(reconciler.troubles()).singleElement().asString().contains("right registrar");
    }

    @Test
    void aRuntimeThatIsUnknownHereIsReportedAndLeft() {
        IntStream.range(0, 7).forEach(i -> atServer("r" + i));

        assertThat(compared().unknown().count()).isEqualTo(7);
        assertThat(reconciler.troubles()).singleElement().asString().startsWith("7 ").endsWith(", …");
        assertThat(server.runtimes).hasSize(7);
    }

    @Test
    void aServerThatIsAwayIsReportedAndNothingIsChanged() {
        stored("prod", ServerState.READY, LIVE);
        server.away = true;

        assertThatThrownBy(this::compared).hasRootCauseInstanceOf(IOException.class);

        assertThat(outbox.added).isEmpty();
        assertThat(reconciler.troubles()).singleElement().asString().contains("503");
    }

    private Differences compared() {
        return Objects.requireNonNull(reconciler.compare().block(TIME));
    }

    private void atServer(String name) {
        server.runtimes.put("acme/" + name, MissingNode.getInstance());
    }

    private void stored(String name, ServerState state, @Nullable Credential credential) {
        change(connection -> {
            RuntimeTable.add(connection,
                    new StoredRuntime("acme", name, null, false, "TUNNEL", false, "{}", "[]",
                            "key", LONG_AGO, state, null, LONG_AGO),
                    credential);
            return true;
        });
    }

    private void ended(String name, long since, @Nullable String refusal) {
        change(connection -> {
            AccountTable.end(connection, new EndedRuntime("acme", name, since, refusal, false));
            return true;
        });
    }

    private StoredRuntime found(String name) {
        return read(connection -> Objects.requireNonNull(RuntimeTable.find(connection, "acme", name)));
    }

    private void change(Store.Work<Boolean> work) {
        get(store.change(work));
    }

    private <T> T read(Store.Work<T> work) {
        return get(store.read(work));
    }

    private static <T> T get(Mono<T> value) {
        return Objects.requireNonNull(value.block(TIME));
    }
}

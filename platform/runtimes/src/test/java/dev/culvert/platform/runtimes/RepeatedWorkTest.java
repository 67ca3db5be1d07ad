package dev.culvert.platform.runtimes;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.OutboxLimits;
import dev.culvert.platform.host.store.OutboxSender;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.runtimes.server.Differences;
import dev.culvert.platform.runtimes.server.Reconciler;
import dev.culvert.platform.runtimes.server.ServerApi;
import dev.culvert.platform.runtimes.store.AccountTable;
import dev.culvert.platform.runtimes.store.EndedRuntime;
import dev.culvert.platform.runtimes.store.RuntimeTable;
import dev.culvert.platform.runtimes.store.RuntimesSchema;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import dev.culvert.store.SqliteLimits;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** The comparison on a database that asks for each change again, as after a deadlock. */
class RepeatedWorkTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String MODULE = "runtimes";
    private static final Instant NOW = Instant.ofEpochSecond(1_000_000);

    @TempDir
    Path folder;

    private final StubServer server = new StubServer();
    private final EventLoops loops = EventLoops.create(1);
    private OutboundCalls calls;
    private PlatformStore store;
    private Reconciler reconciler;

    @BeforeEach
    void open() throws IOException {
        Path token = Files.writeString(folder.resolve("token"), StubServer.TOKEN);
        calls = new OutboundCalls(MODULE, 1, 10, loops, TlsContexts.client(null));
        store = Objects.requireNonNull(PlatformStore
                .open(folder.resolve("p.db"),
                        new ModuleTables(new LinkedHashMap<>(Map.of(MODULE, RuntimesSchema.VERSIONS))),
                        new SqliteLimits(100, Duration.ofSeconds(5)), Clock.systemUTC())
                .block(TIME));
        var outbox = new OutboxSender(store, OutboxLimits.defaults(), Clock.systemUTC(),
                new SimpleMeterRegistry());
        reconciler = new Reconciler(new ServerApi(calls, server.url(), token), new Twice(store),
                outbox.of(MODULE), (account, name) -> "http://hosted.test", Clock.fixed(NOW, ZoneOffset.UTC));
    }

    @AfterEach
    void close() {
        calls.close().block(TIME);
        store.close().block(TIME);
        loops.disposeLater(Duration.ZERO, TIME).block(TIME);
        server.close();
    }

    @Test
    void aRuntimeThatIsThereStaysReady() {
        server.runtimes.put("a/prod", MissingNode.getInstance());
        change(connection -> {
            RuntimeTable.add(connection, new StoredRuntime("a", "prod", null, true, StoredRuntime.TUNNEL,
                    false, "{}", "[]", "k", 1, ServerState.READY, null, 1), null);
            return true;
        });

        assertThat(compared().repaired()).isZero();
        assertThat(Objects.requireNonNull(store.read(
                connection -> Objects.requireNonNull(RuntimeTable.find(connection, "a", "prod"))
                        .serverState())
                .block(TIME))).isEqualTo(ServerState.READY);
        assertThat(compared().unknown().count()).isZero();
    }

    @Test
    void aDeletionWhoseRuntimeIsThereIsSentAgain() {
        server.runtimes.put("a/old", MissingNode.getInstance());
        change(connection -> {
            AccountTable.end(connection, new EndedRuntime("a", "old", 1, null, false));
            return true;
        });

        assertThat(compared().repaired()).isEqualTo(1);
        assertThat(store
                .read(connection -> Objects.requireNonNull(AccountTable.ended(connection, "a", "old"))
                        .since())
                .block(TIME)).isEqualTo(NOW.getEpochSecond());
    }

    private Differences compared() {
        return Objects.requireNonNull(reconciler.compare().block(TIME));
    }

    private void change(Store.Work<Boolean> work) {
        store.change(work).block(TIME);
    }

    /** Rolls each change back and runs it again. */
    private record Twice(Store store) implements Store {
        /** Rolls back. */
        private static final class Again extends RuntimeException {
            private static final long serialVersionUID = 1L;
        }

        @Override
        public <T> Mono<T> read(Work<T> work) {
            return store.read(work);
        }

        @Override
        public <T> Mono<T> change(Work<T> work) {
            return store.<T>change(connection -> {
                work.run(connection);
                throw new Again();
            }).onErrorResume(Again.class, again -> store.change(work));
        }

        @Override
        public <T> Mono<T> change(String account, Work<T> work) {
            return change(work);
        }
    }
}

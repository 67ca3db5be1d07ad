package dev.culvert.platform.host.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.platform.host.spi.Turns;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.Rows;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class TurnKeeperTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final Duration OFTEN = Duration.ofMillis(20);
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final ModuleTables NONE = new ModuleTables(new LinkedHashMap<>());

    @TempDir
    Path folder;

    /** A process with work that counts its runs. */
    private static final class Worker {
        private final PlatformStore store;
        private final TurnKeeper keeper;
        private final AtomicInteger runs = new AtomicInteger();
        private final AtomicReference<Turns.Turn> turn = new AtomicReference<>(change -> {});
        private Disposable working = () -> {};

        Worker(PlatformStore store, Duration life) {
            this.store = store;
            this.keeper = new TurnKeeper(store, "test", life, System::nanoTime);
        }

        Worker start() {
            working = keeper.of("m").repeat("work", OFTEN, had -> Mono.fromRunnable(() -> {
                turn.set(had);
                runs.incrementAndGet();
            }));
            return this;
        }

        void awaitMore() {
            int before = runs.get();
            await().atMost(TIME).until(() -> runs.get() > before + 2);
        }

        /** Whether its turn is its own in a change. */
        void require() {
            store.change(connection -> {
                turn.get().require(connection);
                return true;
            }).block(TIME);
        }

        void close() {
            working.dispose();
            keeper.stop().block(TIME);
            store.close().block(TIME);
        }
    }

    @Test
    void oneProcessWorksAndTheNextOneWhenItStops() {
        DatabaseServer server = TestServer.database();
        Worker first = new Worker(TestStores.open(server, NONE), Duration.ofMinutes(5)).start();
        first.awaitMore();
        Worker second = new Worker(TestStores.open(server, NONE), Duration.ofMinutes(5)).start();
        first.awaitMore();
        assertThat(second.runs).hasValue(0);
        first.require();

        first.working.dispose();

        second.awaitMore(); // at once, not after five minutes
        int before = first.runs.get();
        second.awaitMore();
        assertThat(first.runs).hasValue(before);
        assertThatThrownBy(first::require).isInstanceOf(Turns.Lost.class)
                .hasMessage("another process does m work now");
        first.close();
        second.close();
    }

    @Test
    void theTurnOfAProcessThatDiedGoesToAnother() {
        DatabaseServer server = TestServer.database();
        Worker first = new Worker(TestStores.open(server, NONE), SHORT).start();
        first.awaitMore();
        Worker second = new Worker(TestStores.open(server, NONE), SHORT).start();

        first.store.close().block(TIME); // it can neither renew its turn nor give it away

        second.awaitMore();
        first.close();
        second.close();
    }

    @Test
    void aProcessThatLostItsTurnChangesNothing() {
        DatabaseServer server = TestServer.database();
        Worker first = new Worker(TestStores.open(server, NONE), Duration.ofMinutes(5)).start();
        first.awaitMore();

        first.store
                .changeRows(connection -> Rows.update(connection,
                        "UPDATE platform_turns SET number = number + 1, holder = 'another'"))
                .block(TIME);

        assertThatThrownBy(first::require).isInstanceOf(Turns.Lost.class);
        first.close();
    }

    /** Its renewals find that another process has it. */
    @Test
    void workOfALostTurnEnds() {
        DatabaseServer server = TestServer.database();
        Worker first = new Worker(TestStores.open(server, NONE), SHORT).start();
        first.awaitMore();

        first.store.changeRows(connection -> Rows.update(connection, "UPDATE platform_turns SET number ="
                + " number + 1, claimed_until = 9000000000000")).block(TIME);

        var last = new AtomicInteger(-1);
        await().atMost(TIME)
                .pollInterval(SHORT)
                .until(() -> last.getAndSet(first.runs.get()) == first.runs.get());
        first.close();
    }

    @Test
    void aFilesProcessAlwaysHasTheTurn() {
        Worker alone = new Worker(TestStores.open(Engine.SQLITE, folder, NONE), SHORT).start();

        alone.awaitMore();
        alone.require();

        alone.close();
    }
}

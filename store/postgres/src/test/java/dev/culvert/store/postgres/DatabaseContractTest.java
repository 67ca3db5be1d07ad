package dev.culvert.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.store.Database;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.LockScope;
import dev.culvert.store.Rows;
import dev.culvert.store.SchemaParts;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What both engines promise. */
@ParameterizedClass
@EnumSource
class DatabaseContractTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final List<String> TABLE = List
            .of("CREATE TABLE things (name TEXT PRIMARY KEY, number BIGINT NOT NULL)");

    private final Engine engine;
    private Database database;

    DatabaseContractTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open(@TempDir Path folder) {
        var parts = new LinkedHashMap<String, List<List<String>>>();
        parts.put("things", List.of(TABLE));
        database = Objects.requireNonNull((switch (engine) {
            case SQLITE -> SqliteDatabase.open(folder.resolve("things.db"),
                    new SqliteSchema(List.of(TABLE), "things"),
                    new SqliteLimits(1_000, Duration.ofSeconds(5)), Clock.systemUTC()).cast(Database.class);
            case POSTGRES -> DatabaseEngine.open(engine, TestServer.database(), new SchemaParts(parts));
        }).block(TIME));
    }

    @AfterEach
    void close() {
        database.close().block(TIME);
    }

    @Test
    void whatIsCommittedIsRead() {
        assertThat(database.engine()).isEqualTo(engine);
        assertThat(put("a", 1)).isEqualTo("then 1");
        assertThat(number("a")).isEqualTo(1);
    }

    @Test
    void whatThrowsIsRolledBack() {
        assertThatThrownBy(() -> database.transact(LockScope.ALL, connection -> {
            Rows.update(connection, "INSERT INTO things VALUES (?, ?)", "a", 1L);
            throw new StoreException.Absent("no");
        }, same -> same).block(TIME)).isInstanceOf(StoreException.Absent.class);
        assertThatThrownBy(() -> database
                .transact(LockScope.ROWS,
                        connection -> Rows.update(connection, "INSERT INTO absent VALUES (1)"),
                        same -> same)
                .block(TIME)).isInstanceOf(StoreException.Failed.class);

        assertThat(count()).isZero();
        put("b", 2); // the connection is of use
    }

    @Test
    void aRefusalCostsNoConnection() {
        assumeTrue(engine == Engine.POSTGRES);
        long process = process();

        for (int i = 0; i < 1_000; i++) {
            Mono<Object> refused = database.transact(LockScope.of("acme"), connection -> {
                throw new StoreException.Conflict("no");
            }, same -> same);
            assertThatThrownBy(() -> refused.block(TIME)).isInstanceOf(StoreException.Conflict.class);
        }

        assertThat(process()).isEqualTo(process);
    }

    @Test
    void textThatTheServerCantKeepIsTheRequestsFault() {
        assumeTrue(engine == Engine.POSTGRES);
        long process = process();

        assertThatThrownBy(() -> put("a\u0000b", 1)).isInstanceOf(StoreException.Unfit.class)
                .hasMessageContaining("expected: Unicode without U+0000");
        assertThatThrownBy(() -> number("a\u0000b")).isInstanceOf(StoreException.Unfit.class);

        assertThat(process()).isEqualTo(process);
    }

    /** Of the server's end of the connection. */
    private long process() {
        return read(connection -> Rows.count(connection, "SELECT pg_backend_pid()"));
    }

    @Test
    void changesThatWaitForEachOtherHoldNoConnections() {
        assumeTrue(engine == Engine.POSTGRES);
        var go = new CountDownLatch(1);
        List<CompletableFuture<@Nullable Integer>> changes = IntStream.range(0, 20)
                .mapToObj(i -> waiting(LockScope.of("acme"), go))
                .toList();

        assertThat(database.transact(LockScope.of("other"),
                connection -> Rows.count(connection,
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
                                + " AND datname = current_database()"),
                same -> same).block(TIME)).isZero();

        go.countDown();
        changes.forEach(CompletableFuture::join);
    }

    @Test
    void changesLeaveConnectionsToReads() {
        assumeTrue(engine == Engine.POSTGRES);
        var go = new CountDownLatch(1);
        List<CompletableFuture<@Nullable Integer>> changes = IntStream.range(0, 20)
                .mapToObj(i -> waiting(LockScope.of("account" + i), go))
                .toList();

        assertThat(count()).isZero();

        go.countDown();
        changes.forEach(CompletableFuture::join);
    }

    private CompletableFuture<@Nullable Integer> waiting(LockScope scope, CountDownLatch go) {
        return database.transact(scope, connection -> {
            await(go);
            return 1;
        }, same -> same).toFuture();
    }

    /** Check, then change: what was checked stays true until the commit. */
    @Test
    void changesOfOneScopeExcludeEachOther() {
        put("counter", 0);

        Flux.range(0, 200)
                .flatMap(i -> database.transact(i % 10 == 0 ? LockScope.ALL : LockScope.of("acme"),
                        connection -> {
                            long number = Rows.count(connection,
                                    "SELECT number FROM things WHERE name = 'counter'");
                            return Rows.update(connection,
                                    "UPDATE things SET number = ? WHERE name = 'counter'",
                                    number + 1);
                        }, same -> same), 50)
                .blockLast(TIME);

        assertThat(number("counter")).isEqualTo(200);
    }

    @Test
    void cancelledWorkThatHasNotBegunIsDropped() throws InterruptedException {
        var begun = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        Disposable first = database.transact(LockScope.ALL, connection -> {
            begun.countDown();
            await(go);
            return 1;
        }, same -> same).subscribe();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < 20; i++) {
            String name = "dropped" + i;
            Disposable waits = database.transact(LockScope.ALL,
                    connection -> Rows.update(connection, "INSERT INTO things VALUES (?, 1)", name),
                    same -> same).subscribe();
            waits.dispose();
        }
        go.countDown();
        put("last", 1);

        assertThat(count()).isEqualTo(1);
        first.dispose();
    }

    @Test
    void tooMuchWorkIsRefusedAtOnce() {
        var go = new CountDownLatch(1);
        List<Mono<Integer>> many = IntStream.range(0, 1_500)
                .mapToObj(i -> database.transact(LockScope.ALL, connection -> {
                    await(go);
                    return i;
                }, same -> same).onErrorResume(StoreException.Busy.class, busy -> {
                    go.countDown();
                    return Mono.just(-1);
                }))
                .toList();

        List<Integer> done = Objects
                .requireNonNull(
                        Flux.fromIterable(many).flatMap(each -> each, 1_500).collectList().block(TIME));

        assertThat(done).hasSize(1_500).contains(-1).filteredOn(i -> i >= 0).isNotEmpty();
        put("after", 1);
    }

    @Test
    void aClosedDatabaseRefuses() {
        database.close().block(TIME);

        assertThatThrownBy(() -> number("a")).isInstanceOf(StoreException.class);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String put(String name, long number) {
        return Objects.requireNonNull(database.transact(LockScope.of("acme"), connection -> {
            Rows.update(connection, "INSERT INTO things VALUES (?, ?)", name, number);
            return number;
        }, made -> "then " + made).block(TIME));
    }

    private long number(String name) {
        return read(connection -> Rows.count(connection, "SELECT number FROM things WHERE name = ?", name));
    }

    private long count() {
        return read(connection -> Rows.count(connection, "SELECT count(*) FROM things"));
    }

    private long read(Database.Work<Long> work) {
        return Objects.requireNonNull(database.read(work).block(TIME));
    }
}

package dev.culvert.platform.host.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.EventPage;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.TableVersions;
import dev.culvert.store.Database;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.LockScope;
import dev.culvert.store.Rows;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The change feed, and the tables of modules. */
@ParameterizedClass
@EnumSource
class EventFeedTest {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final Engine engine;

    @TempDir
    Path folder;

    EventFeedTest(Engine engine) {
        this.engine = engine;
    }

    @Test
    void followersGetCommittedEventsOfAllModulesInOrder() {
        PlatformStore store = store(Map.of());
        var feed = new EventFeed(store, 2_000);
        List<Event> seen = Collections.synchronizedList(new ArrayList<>());
        var begun = new AtomicBoolean();
        Disposable following = feed.of("a").follow(isCurrent -> begun.set(true)).subscribe(seen::add);
        await().atMost(TIME).untilTrue(begun);
        assertThatThrownBy(() -> store.change(connection -> {
            feed.of("a").add(connection, "acme", "rule", "rolled back");
            throw new IllegalStateException("no");
        }).block(TIME)).hasMessage("no");
        add(store, feed.of("a"), "acme", "rule", "1");
        store.change(connection -> {
            for (int i = 0; i < 1_500; i++) {
                feed.of("b").add(connection, "other", "thing", String.valueOf(i));
            }
            return true;
        }).block(TIME);

        await().atMost(TIME).until(() -> seen.size() == 1_501);

        assertThat(seen).extracting(Event::seq).isSorted().doesNotHaveDuplicates();
        assertThat(seen.getFirst()).extracting(Event::module, Event::subject).containsExactly("a", "1");
        assertThat(seen.getLast()).extracting(Event::module, Event::subject).containsExactly("b", "1499");
        following.dispose();
        store.close().block(TIME);
    }

    @Test
    void aSlowFollowerGetsEachEventOnce() {
        PlatformStore store = store(Map.of());
        var feed = new EventFeed(store, 10_000);
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        var begun = new AtomicBoolean();
        Disposable following = feed.of("a")
                .follow(isCurrent -> begun.set(true))
                .publishOn(Schedulers.single(), 16)
                .subscribe(event -> seen.add(event.seq()));
        await().atMost(TIME).untilTrue(begun);
        store.change(connection -> {
            for (int i = 0; i < 3_000; i++) {
                feed.of("a").add(connection, "acme", "thing", null);
            }
            return true;
        }).block(TIME);

        await().atMost(TIME).until(() -> seen.size() >= 3_000);

        assertThat(seen).hasSize(3_000).isSorted().doesNotHaveDuplicates();
        following.dispose();
        store.close().block(TIME);
    }

    @Test
    void theProcessThatCommitsIsToldAlone() {
        assumeTrue(engine == Engine.POSTGRES);
        DatabaseServer server = TestServer.database();
        PlatformStore one = TestStores.open(server, new ModuleTables(new LinkedHashMap<>()));
        PlatformStore two = TestStores.open(server, new ModuleTables(new LinkedHashMap<>()));
        Events events = new EventFeed(one, 100).of("a");
        Events others = new EventFeed(two, 100).of("a");
        List<String> own = Collections.synchronizedList(new ArrayList<>());
        List<String> ofOthers = Collections.synchronizedList(new ArrayList<>());
        Disposable telling = events.onCommit(own::add);
        others.onCommit(ofOthers::add);
        var seen = new AtomicInteger();
        var begun = new AtomicBoolean();
        Disposable following = others.follow(isCurrent -> begun.set(true))
                .subscribe(event -> seen.incrementAndGet());
        await().atMost(TIME).untilTrue(begun);

        one.change(connection -> {
            for (String account : List.of("acme", "acme", "other")) {
                events.add(connection, account, "rule", null);
            }
            return true;
        }).block(TIME);
        await().atMost(TIME).until(() -> seen.get() == 3);
        telling.dispose();
        add(one, events, "acme", "rule", null);

        assertThat(own).containsExactly("acme", "other");
        assertThat(ofOthers).isEmpty();
        following.dispose();
        one.close().block(TIME);
        two.close().block(TIME);
    }

    /** A backup was restored, or a replica that lagged is the primary now. */
    @Test
    void aFeedThatWentBackIsFollowedFromThere() {
        assumeTrue(engine == Engine.POSTGRES);
        PlatformStore store = store(Map.of());
        var feed = new EventFeed(store, 100);
        var begun = new AtomicInteger();
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        Disposable following = feed.of("a")
                .follow(isCurrent -> begun.incrementAndGet())
                .subscribe(event -> seen.add(event.seq() + " " + event.subject()));
        await().atMost(TIME).until(() -> begun.get() == 1);
        List.of("a", "b", "c").forEach(subject -> add(store, feed.of("a"), "acme", "rule", subject));
        await().atMost(TIME).until(() -> seen.size() == 3);

        store.changeRows(connection -> Rows.update(connection, "UPDATE platform_feed SET last = 1")
                + Rows.update(connection, "DELETE FROM platform_events WHERE seq > 1")).block(TIME);

        await().atMost(TIME).until(() -> begun.get() == 2);
        add(store, feed.of("a"), "acme", "rule", "d");
        await().atMost(TIME).until(() -> seen.size() == 4);
        assertThat(seen).containsExactly("1 a", "2 b", "3 c", "2 d");
        following.dispose();
        store.close().block(TIME);
    }

    @Test
    void aFollowerThatCanNotReadForAMinuteIsNotCurrent() {
        assumeTrue(engine == Engine.POSTGRES);
        var failure = new AtomicReference<@Nullable StoreException>();
        var failures = new AtomicInteger();
        PlatformStore store = PlatformStore.of(new FailingReads(Objects.requireNonNull(DatabaseEngine
                .open(engine, TestServer.database(), new ModuleTables(new LinkedHashMap<>()).postgres())
                .block(TIME)), failure, failures));
        var nanos = new AtomicLong();
        var feed = new EventFeed(store, 100, nanos::get);
        var begun = new AtomicInteger();
        var current = new AtomicReference<BooleanSupplier>(() -> false);
        Disposable following = feed.of("a").follow(isCurrent -> {
            current.set(isCurrent);
            begun.incrementAndGet();
        }).subscribe();
        await().atMost(TIME).until(() -> current.get().getAsBoolean());

        failure.set(new StoreException.Busy("too much to do"));
        nanos.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(current.get().getAsBoolean()).isTrue();
        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(current.get().getAsBoolean()).isFalse();
        failure.set(null);
        await().atMost(TIME).until(() -> current.get().getAsBoolean());
        assertThat(begun).hasValue(1);

        // What is there afterwards may be another history.
        int before = failures.get();
        failure.set(new StoreException.Away("away", null));
        await().atMost(TIME).until(() -> failures.get() > before);
        failure.set(null);
        await().atMost(TIME).until(() -> begun.get() == 2);
        following.dispose();
        store.close().block(TIME);
    }

    /** Fails reads while there is a failure, and counts them. */
    private record FailingReads(Database database, AtomicReference<@Nullable StoreException> failure,
            AtomicInteger failures) implements Database {
        @Override
        public Engine engine() {
            return database.engine();
        }

        @Override
        public <T> Mono<T> read(Work<T> work) {
            return Mono.defer(() -> {
                StoreException failed = failure.get();
                if (failed == null) {
                    return database.read(work);
                }
                failures.incrementAndGet();
                return Mono.error(failed);
            });
        }

        @Override
        public <T, R> Mono<R> transact(LockScope scope, Work<T> work, Function<T, R> then) {
            return database.transact(scope, work, then);
        }

        @Override
        public Mono<Void> lost() {
            return database.lost();
        }

        @Override
        public Mono<Void> close() {
            return database.close();
        }
    }

    @Test
    void aModuleReadsItsOwnEventsOfAnAccount() {
        PlatformStore store = store(Map.of());
        var feed = new EventFeed(store, 100);
        long before = since(store, feed.of("a"), "acme", -1).next();
        add(store, feed.of("a"), "acme", "rule", "1");
        add(store, feed.of("b"), "acme", "rule", "of another module");
        add(store, feed.of("a"), "other", "rule", "of another account");

        EventPage page = since(store, feed.of("a"), "acme", before);

        assertThat(page.events()).extracting(Event::subject).containsExactly("1");
        assertThat(page.next()).isEqualTo(before + 3);
        assertThat(page.reset()).isFalse();
        store.close().block(TIME);
    }

    @Test
    void aFileFromBeforeModulesKeepsItsChanges() throws SQLException {
        assumeTrue(engine == Engine.SQLITE);
        Path file = folder.resolve("p.db");
        var old = new SqliteSchema(List.of(List.of(
                "CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT, what TEXT, user TEXT)",
                "INSERT INTO changes VALUES (41, 'acme', 'key', 'jo')"), List.of()), "changes");
        try (Connection connection = SqliteDatabase.connect(file)) {
            SqliteDatabase.transaction(connection, own -> {
                old.migrate(own);
                return true;
            });
        }

        PlatformStore store = store(Map.of("directory", List.of(List.of("not run"), List.of("not run"),
                List.of("DROP TABLE changes", "CREATE TABLE directory_new (x)"))));
        var feed = new EventFeed(store, 100);

        assertThat(since(store, feed.of("directory"), "acme", 40).events()).singleElement()
                .satisfies(event -> assertThat(event)
                        .isEqualTo(new Event(41, "acme", "directory", "key", "jo")));
        add(store, feed.of("directory"), "acme", "key", null);
        assertThat(since(store, feed.of("directory"), "acme", 41).next()).isEqualTo(42);
        store.close().block(TIME);
        store(Map.of()).close().block(TIME); // without the module its tables stay
    }

    @Test
    void tablesThatDoNotFitNameTheirModule() {
        assumeTrue(engine == Engine.SQLITE);
        assertThatThrownBy(() -> store(Map.of("builds", List.of(List.of("CREATE TABLE builds_x (")))))
                .isInstanceOf(StoreException.Failed.class)
                .hasRootCauseMessage("[SQLITE_ERROR] SQL error or missing database (incomplete input)")
                .hasStackTraceContaining("the tables of module builds can't be made");
        store(Map.of("builds", List.of(List.of("CREATE TABLE builds_x (y)"), List.of()))).close().block(TIME);
        assertThatThrownBy(() -> store(Map.of("builds", List.of(List.of("CREATE TABLE builds_x (y)")))))
                .hasStackTraceContaining(
                        "version 2 of the tables of module builds, which a newer culvert wrote");
    }

    private PlatformStore store(Map<String, List<List<String>>> modules) {
        var tables = new LinkedHashMap<String, TableVersions>();
        modules.forEach((name, versions) -> tables.put(name, new TableVersions(versions, List.of())));
        return TestStores.open(engine, folder, new ModuleTables(tables));
    }

    private static EventPage since(PlatformStore store, Events events, String account, long since) {
        return Objects.requireNonNull(
                store.read(connection -> events.since(connection, account, since)).block(TIME));
    }

    private static void add(PlatformStore store, Events events, String account, String kind,
            @Nullable String subject) {
        store.change(connection -> {
            events.add(connection, account, kind, subject);
            return true;
        }).block(TIME);
    }
}

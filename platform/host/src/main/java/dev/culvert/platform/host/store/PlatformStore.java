package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Store;
import dev.culvert.store.Database;
import dev.culvert.store.LockScope;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLimits;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The platform's database. Callable from any thread. */
public final class PlatformStore implements Store {
    private final Database database;
    private final RequestTable requests;
    private final List<BeforeCommit> beforeCommit = new CopyOnWriteArrayList<>();
    private final List<Consumer<PlatformChange>> afterCommit = new CopyOnWriteArrayList<>();
    /** The changes that run, by their connections. */
    private final Map<Connection, PlatformChange> running = new ConcurrentHashMap<>();

    private volatile boolean closed;

    private PlatformStore(Database database) {
        this.database = database;
        this.requests = new RequestTable(database.engine());
    }

    /** Opens or creates {@code file} with these tables. Errors: {@link dev.culvert.store.StoreException}. */
    public static Mono<PlatformStore> open(Path file, ModuleTables tables, SqliteLimits limits, Clock clock) {
        return SqliteDatabase.open(file, tables, limits, clock).map(PlatformStore::of);
    }

    /** Takes over a database with the tables of all modules. */
    public static PlatformStore of(Database database) {
        return new PlatformStore(database);
    }

    /** Work at the end of each change. */
    @FunctionalInterface
    interface BeforeCommit {
        void run(Connection connection, PlatformChange change) throws SQLException;
    }

    /** Runs in each change, after its work. */
    void beforeCommit(BeforeCommit hook) {
        beforeCommit.add(hook);
    }

    /** Runs after each committed change, on its thread. Must not block. */
    void afterCommit(Consumer<PlatformChange> hook) {
        afterCommit.add(hook);
    }

    /** The change that runs on a connection. */
    PlatformChange changeOn(Connection connection) {
        PlatformChange change = running.get(connection);
        if (change == null) {
            throw new IllegalStateException("no change runs (expected: a call within Store.change)");
        }
        return change;
    }

    Database.Engine engine() {
        return database.engine();
    }

    @Override
    public <T> Mono<T> read(Work<T> work) {
        return database.read(work::run);
    }

    /** As {@link #read}, before all that waits: for the look at the feed. */
    <T> Mono<T> readFirst(Work<T> work) {
        return database.readFirst(work::run);
    }

    @Override
    public <T> Mono<T> change(Work<T> work) {
        return change(LockScope.ALL, work);
    }

    @Override
    public <T> Mono<T> change(String account, Work<T> work) {
        return change(LockScope.of(account), work);
    }

    @Override
    public long now(Connection connection, Clock own) throws SQLException {
        return engine() == Database.Engine.SQLITE ? own.millis() : requests.now(connection);
    }

    /** Runs work that excludes no other, for changes of single rows. */
    <T> Mono<T> changeRows(Work<T> work) {
        return change(LockScope.ROWS, work);
    }

    private <T> Mono<T> change(LockScope scope, Work<T> work) {
        return Mono.deferContextual(context -> {
            RepeatableRequest request = context.<RepeatableRequest>getOrEmpty(RepeatableRequest.class)
                    .filter(named -> !named.isStored())
                    .orElse(null);
            return database.transact(scope,
                    connection -> run(request == null ? work : once(work, request), connection), done -> {
                        if (request != null) {
                            request.stored();
                        }
                        afterCommit.forEach(hook -> hook.accept(done.change()));
                        return done.result();
                    });
        });
    }

    /** The change of a request that may be sent again: is not made twice. */
    private <T> Work<T> once(Work<T> work, RepeatableRequest request) {
        return connection -> {
            long now = requests.now(connection);
            requests.requireNew(connection, request, now);
            T result = work.run(connection);
            requests.add(connection, request, result, now);
            return result;
        };
    }

    /** A change that is done, and what it gave. */
    private record Done<T>(T result, PlatformChange change) {}

    private <T> Done<T> run(Work<T> work, Connection connection) throws SQLException {
        var change = new PlatformChange();
        running.put(connection, change);
        try {
            T result = work.run(connection);
            for (BeforeCommit hook : beforeCommit) {
                hook.run(connection, change);
            }
            return new Done<>(result, change);
        } finally {
            running.remove(connection);
        }
    }

    /** Whether {@link #close} was called. */
    boolean isClosed() {
        return closed;
    }

    /** Why the database can't be used now; null: it can. */
    public @Nullable String away() {
        return database.away();
    }

    /** What operators should know of the database. */
    public Mono<List<String>> troubles() {
        return database.troubles();
    }

    /** Never emits. Fails when another process has taken over the database. */
    public Mono<Void> lost() {
        return database.lost();
    }

    /** Waits for running work and closes the database. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            return database.close();
        });
    }
}

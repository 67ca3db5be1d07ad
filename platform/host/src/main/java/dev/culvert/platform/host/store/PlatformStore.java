package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Store;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLimits;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Mono;

/** The platform's database in one SQLite file. Callable from any thread. */
public final class PlatformStore implements Store {
    private final SqliteDatabase database;
    private final List<Runnable> afterCommit = new CopyOnWriteArrayList<>();

    private PlatformStore(SqliteDatabase database) {
        this.database = database;
    }

    /** Opens or creates {@code file} with these tables. Errors: {@link dev.culvert.store.StoreException}. */
    public static Mono<PlatformStore> open(Path file, ModuleTables tables, SqliteLimits limits, Clock clock) {
        return SqliteDatabase.open(file, tables, limits, clock).map(PlatformStore::new);
    }

    /** Runs on the database's thread after each committed change. Must not block. */
    void afterCommit(Runnable hook) {
        afterCommit.add(hook);
    }

    @Override
    public <T> Mono<T> read(Work<T> work) {
        return database.read(work::run);
    }

    @Override
    public <T> Mono<T> change(Work<T> work) {
        return database.transact(work::run, result -> {
            afterCommit.forEach(Runnable::run);
            return result;
        });
    }

    /** Never emits. Fails when another process has taken over the database. */
    public Mono<Void> lost() {
        return database.lost();
    }

    /** Waits for running work and closes the file. */
    public Mono<Void> close() {
        return database.close();
    }
}

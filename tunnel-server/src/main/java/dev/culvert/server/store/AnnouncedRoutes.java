package dev.culvert.server.store;

import dev.culvert.certs.Sha256;
import dev.culvert.config.ConfigException;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The durable routes and policy that each runtime's router announced last (docs/protocol.md §4.2). Kept in
 * memory and written through to the database, so they are known while a tunnel is down, and after a restart.
 * Callable from any thread.
 */
public final class AnnouncedRoutes {
    private static final Logger log = LoggerFactory.getLogger(AnnouncedRoutes.class);

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final SqliteDatabase database;
    private final Map<String, Kept> byRuntime = new ConcurrentHashMap<>();
    /** Runtimes whose announcement is being read, each with the newest waiting announcement, if any. */
    private final Map<String, Optional<byte[]>> under = new ConcurrentHashMap<>();

    /** The hash of a document, and its routes. */
    private record Kept(Sha256 hash, DurableRoutes routes) {}

    private AnnouncedRoutes(SqliteDatabase database) {
        this.database = database;
    }

    /** Reads the stored announcements. Errors: {@link StoreException}. */
    static Mono<AnnouncedRoutes> load(SqliteDatabase database) {
        var announced = new AnnouncedRoutes(database);
        return database.transact(connection -> announced.read(connection), read -> read);
    }

    private AnnouncedRoutes read(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT runtime_id, document FROM runtime_announcements")) {
            while (row.next()) {
                keep(row.getString("runtime_id"), row.getBytes("document"));
            }
        }
        return this;
    }

    /** Returns false when {@code document} can't be read; the previous announcement then stays. */
    private boolean keep(String runtimeId, byte[] document) {
        try {
            Announcement read = Announcement.parse(document);
            byRuntime.put(runtimeId, new Kept(Sha256.of(document),
                    read.routes().isEmpty() ? DurableRoutes.NONE : DurableRoutes.of(read)));
            return true;
        } catch (IllegalArgumentException | ConfigException wrong) {
            log.atWarn()
                    .addKeyValue("runtimeId", runtimeId)
                    .addKeyValue("reason", wrong.getMessage())
                    .log("announcement not understood");
            return false;
        }
    }

    /** The durable routes of a runtime: those that it announced last, or the default ones. */
    public DurableRoutes of(String runtimeId) {
        Kept kept = byRuntime.get(runtimeId);
        return kept == null ? Default.ROUTES : kept.routes;
    }

    private static final class Default {
        static final DurableRoutes ROUTES = DurableRoutes.byDefault();
    }

    /**
     * Takes the announcement {@code document} of a runtime's client. Returns at once. One announcement of a
     * runtime is read at a time. The newest that arrives meanwhile is read after it, at the earliest one
     * second later, so a client that announces without end costs no more. If the database can't be written,
     * because the next server has it already, the announcement is effective in this process.
     *
     * @param changed runs when the announcement differs from the previous one, on any thread
     */
    public void announced(RegisteredRuntime runtime, byte[] document, Runnable changed) {
        Optional<byte[]> waiting = under.compute(runtime.id(),
                (id, before) -> before == null ? Optional.empty() : Optional.of(document));
        if (waiting.isEmpty()) {
            take(runtime, document, changed);
        }
    }

    private void take(RegisteredRuntime runtime, byte[] document, Runnable changed) {
        Kept before = byRuntime.get(runtime.id());
        Mono<Boolean> taken = before != null && before.hash.equals(Sha256.of(document))
                ? Mono.just(false)
                : written(runtime, document);
        taken.onErrorResume(failed -> heldInMemory(runtime, document, failed))
                .doOnNext(kept -> {
                    if (kept) {
                        changed.run();
                    }
                })
                .delayElement(PAUSE, Schedulers.parallel())
                .subscribe(kept -> next(runtime, changed));
    }

    /** Takes the announcement that arrived meanwhile, if any. */
    private void next(RegisteredRuntime runtime, Runnable changed) {
        Optional<byte[]> newest = under.replace(runtime.id(), Optional.empty());
        if (newest != null && newest.isPresent()) {
            take(runtime, newest.get(), changed);
        } else if (newest != null && !under.remove(runtime.id(), Optional.empty())) {
            next(runtime, changed); // another one arrived in between
        }
    }

    private Mono<Boolean> written(RegisteredRuntime runtime, byte[] document) {
        return database.transact(connection -> keep(runtime.id(), document)
                // Inserts nothing when the runtime was deleted meanwhile.
                && SqliteDatabase.update(connection,
                        "INSERT OR REPLACE INTO runtime_announcements SELECT id, ? FROM runtimes WHERE id = ?",
                        document, runtime.id()) > 0,
                written -> written);
    }

    private Mono<Boolean> heldInMemory(RegisteredRuntime runtime, byte[] document, Throwable failed) {
        return Mono.fromCallable(() -> keep(runtime.id(), document))
                .subscribeOn(Schedulers.boundedElastic())
                .doOnNext(kept -> log.atInfo()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("reason", failed.getMessage())
                        .log("announcement not stored"))
                .onErrorReturn(false);
    }

    /** Forgets the routes of a deleted runtime. */
    public void forget(String runtimeId) {
        byRuntime.remove(runtimeId);
    }
}

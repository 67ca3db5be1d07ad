package dev.culvert.inbox;

import dev.culvert.edge.sqlite.DatabaseTrouble;
import dev.culvert.edge.sqlite.StoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reads the database, on one thread with a connection of its own, and files, on another. Reading waits for nobody who writes.
 * Errors of all: {@link StoreException}.
 */
final class InboxReads {
    private static final int MAX_QUEUED = 10_000;
    private static final String VIEW = "SELECT seq, id, runtime, source, method, authority, target, size, provider, state,"
            + " begun, next, aside, ordered, outcome, stored, ended, content FROM webhooks";

    private final Path file;
    private final Connection connection;
    private final Statements statements;
    private final SpoolFolder spool;
    private final ThreadPoolExecutor thread = pool();
    private final BulkThread files = new BulkThread();
    private final Scheduler scheduler = Schedulers.fromExecutorService(thread);

    InboxReads(Path file, Connection connection, SpoolFolder spool) {
        this.file = file;
        this.connection = connection;
        this.statements = new Statements(connection);
        this.spool = spool;
    }

    private static ThreadPoolExecutor pool() {
        var pool = new ThreadPoolExecutor(1, 1, 30, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_QUEUED),
                Thread.ofPlatform().name("culvert-inbox-read").daemon().factory());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Work on the read connection. */
    @FunctionalInterface
    private interface Read<T> {
        @Nullable
        T from(Statements statements) throws SQLException;
    }

    private <T> Mono<T> read(Read<T> work) {
        return Mono.fromCallable(() -> work.from(statements))
                .subscribeOn(scheduler)
                .onErrorMap(SQLException.class, failed -> DatabaseTrouble.of(file, failed))
                .onErrorMap(RejectedExecutionException.class,
                        full -> new StoreException.Busy("the inbox has too much to read; try again later"));
    }

    /** Where files are read and written. */
    BulkThread files() {
        return files;
    }

    /** The webhooks that the plan asks for. */
    Mono<List<Pending>> load(DispatchPlan.Load load) {
        SourceQueue source = load.source();
        String runtime = source.runtime.id;
        long after = source.lastSeq();
        int limit = source.asideLimit();
        return read(from -> load.inLine()
                ? WebhookRows.inLine(from, runtime, source.key, after, SourceQueue.WINDOW)
                : WebhookRows.aside(from, runtime, source.key, limit));
    }

    /** What a webhook carries; fails when it is gone. Its memory is not counted: attempts are. */
    Mono<Content> content(long seq) {
        return read(
                from -> from.first("SELECT fields, body, spool, size FROM contents JOIN webhooks USING (seq)"
                        + " WHERE seq = ?", row -> {
                            String name = row.getString(3);
                            return new Content(row.getBytes(1), row.getBytes(2),
                                    name == null ? null : spool.file(name),
                                    row.getLong(4), null);
                        }, seq))
                .switchIfEmpty(Mono.error(() -> new StoreException.Absent("the webhook is gone")));
    }

    /** One entry; empty: there is none. */
    Mono<InboxEntry> entry(String id) {
        return read(from -> from.first(VIEW + " WHERE id = ?", InboxReads::entry, id));
    }

    Mono<InboxPage> page(InboxQuery query) {
        List<Object> values = new ArrayList<>();
        var where = new StringBuilder(" WHERE seq < ?");
        values.add(cursor(query.after()));
        if (query.state() != null) {
            where.append(" AND state = ?");
            values.add(query.state().number());
        }
        if (query.runtimeId() != null) {
            where.append(" AND runtime = ?");
            values.add(query.runtimeId());
        }
        if (query.source() != null) {
            where.append(" AND source = ?");
            values.add(query.source());
        }
        values.add(query.limit() + 1);
        return read(from -> {
            List<Row> rows = from.list(VIEW + where + " ORDER BY seq DESC LIMIT ?",
                    row -> new Row(row.getLong(1), entry(row)), values.toArray());
            boolean more = rows.size() > query.limit();
            List<Row> shown = more ? rows.subList(0, query.limit()) : rows;
            return new InboxPage(shown.stream().map(Row::entry).toList(),
                    more ? Long.toString(shown.getLast().seq) : null);
        });
    }

    private record Row(long seq, InboxEntry entry) {}

    private static long cursor(@Nullable String after) {
        try {
            return after == null ? Long.MAX_VALUE : Long.parseLong(after);
        } catch (NumberFormatException none) {
            return Long.MAX_VALUE;
        }
    }

    /** How many there are in each state. */
    static Map<WebhookState, Long> counts(Statements from) throws SQLException {
        Map<WebhookState, Long> counts = new EnumMap<>(WebhookState.class);
        for (WebhookState state : WebhookState.values()) {
            counts.put(state,
                    from.number("SELECT coalesce(sum(entries), 0) FROM usage WHERE source = '' AND state = ?",
                            state.number()));
        }
        return counts;
    }

    private static InboxEntry entry(ResultSet row) throws SQLException {
        String target = row.getString(7);
        int query = target.indexOf('?');
        WebhookState state = WebhookState.at(row.getInt(10));
        long ended = row.getLong(17);
        boolean hasEnded = !row.wasNull();
        return new InboxEntry(row.getString(2), row.getString(3), row.getString(4), row.getString(5),
                row.getString(6),
                query < 0 ? target : target.substring(0, query), row.getLong(8), row.getString(9), state,
                row.getInt(11), state == WebhookState.PENDING ? Instant.ofEpochMilli(row.getLong(12)) : null,
                row.getInt(13) != 0 && row.getInt(14) != 0, row.getString(15),
                Instant.ofEpochMilli(row.getLong(16)),
                hasEnded ? Instant.ofEpochMilli(ended) : null, row.getInt(18) != 0);
    }

    /** Lets reading end, then closes the database. */
    Mono<Void> close() {
        return Mono.<Void>fromCallable(() -> {
            statements.close();
            connection.close();
            return null;
        }).subscribeOn(scheduler).onErrorComplete().then(Mono.fromRunnable(() -> {
            scheduler.dispose();
            files.close();
        }));
    }
}

package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.PendingWebhooks;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.SourceBacklog;
import dev.culvert.inbox.model.StoredFields;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.inbox.model.WebhookHead;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.queue.DispatchPlan;
import dev.culvert.inbox.queue.SourceQueue;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reads the database for deliveries and for operators, each on its own thread and connection, so that a long
 * list delays no delivery. Reads files on a third thread. Reads do not wait for writes. Errors of all
 * methods: {@link StoreException}.
 */
public final class InboxReads {
    private static final int MAX_QUEUED = 10_000;
    /** The maximum number of operators' queries that wait. */
    private static final int MAX_ASKED = 100;
    private static final String VIEW = "SELECT seq, id, runtime, source, method, authority, target, size, provider, state,"
            + " begun, next, aside, ordered, outcome, stored, ended, content, unsent, refused FROM webhooks";

    private static final byte[] NOTHING = {};
    private static final String BACKLOGS = """
            SELECT runtime, source, sum(CASE state WHEN ? THEN entries ELSE 0 END) AS pending,
              sum(CASE state WHEN ? THEN entries ELSE 0 END) AS dead,
              (SELECT stored FROM webhooks w WHERE w.runtime = usage.runtime AND w.source = usage.source
                AND w.state = ? ORDER BY seq LIMIT 1),
              (SELECT ended FROM webhooks w WHERE w.runtime = usage.runtime AND w.source = usage.source
                AND w.state = ? AND ended IS NOT NULL ORDER BY ended LIMIT 1)
            FROM usage WHERE source <> '' AND state IN (?, ?) AND entries > 0
            GROUP BY runtime, source ORDER BY pending + dead DESC LIMIT ?""";

    private final Path file;
    private final SpoolFolder spool;
    private final Reader deliveries;
    private final Reader operators;
    private final BulkThread files = new BulkThread();

    public InboxReads(InboxFiles opened) {
        this.file = opened.file();
        this.spool = opened.spool();
        this.deliveries = new Reader(opened.reads(), "culvert-inbox-read", MAX_QUEUED);
        this.operators = new Reader(opened.queries(), "culvert-inbox-query", MAX_ASKED);
    }

    /** A read-only connection and its thread. */
    private static final class Reader {
        final Connection connection;
        final Statements statements;
        final Scheduler scheduler;

        Reader(Connection connection, String name, int queued) {
            this.connection = connection;
            this.statements = new Statements(connection);
            var thread = new ThreadPoolExecutor(1, 1, 30, TimeUnit.SECONDS, new ArrayBlockingQueue<>(queued),
                    Thread.ofPlatform().name(name).daemon().factory());
            thread.allowCoreThreadTimeOut(true);
            this.scheduler = Schedulers.fromExecutorService(thread);
        }

        /** Waits for reads in progress, then closes the connection. */
        Mono<Void> close() {
            return Mono.<Void>fromCallable(() -> {
                statements.close();
                connection.close();
                return null;
            }).subscribeOn(scheduler).onErrorComplete().then(Mono.fromRunnable(scheduler::dispose));
        }
    }

    /** Work on a read-only connection. */
    @FunctionalInterface
    private interface Read<T> {
        @Nullable
        T from(Statements statements) throws SQLException;
    }

    private <T> Mono<T> read(Reader reader, Read<T> work) {
        return Mono.fromCallable(() -> work.from(reader.statements))
                .subscribeOn(reader.scheduler)
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                .onErrorMap(RejectedExecutionException.class,
                        full -> new StoreException.Busy("too many reads of the inbox wait; try again later"));
    }

    /** The thread that reads and writes files. */
    public BulkThread files() {
        return files;
    }

    /** Loads the webhooks that the dispatch plan requests. */
    public Mono<List<QueuedWebhook>> load(DispatchPlan.Load load) {
        SourceQueue source = load.source();
        String runtime = source.runtime.id;
        long after = source.lastSeq();
        int limit = source.asideLimit();
        return read(deliveries, from -> load.inLine()
                ? WebhookRows.inLine(from, runtime, source.key, after, SourceQueue.WINDOW)
                : WebhookRows.aside(from, runtime, source.key, limit));
    }

    /**
     * Loads the content of a webhook. Fails if the webhook was deleted. Its memory is not counted, because
     * the number of attempts is limited.
     */
    public Mono<WebhookBody> content(long seq) {
        return read(deliveries,
                from -> from.first("SELECT fields, body, spool, size FROM contents JOIN webhooks USING (seq)"
                        + " WHERE seq = ?", row -> {
                            String name = row.getString(3);
                            return new WebhookBody(row.getBytes(1), row.getBytes(2),
                                    name == null ? null : spool.file(name),
                                    row.getLong(4), null);
                        }, seq))
                .switchIfEmpty(Mono.error(() -> new StoreException.Absent("the webhook is gone")));
    }

    /** Loads one entry; empty: it does not exist. */
    public Mono<InboxEntry> entry(String id) {
        return read(operators, from -> from.first(VIEW + " WHERE id = ?", InboxReads::entry, id));
    }

    /** Loads the webhook that waits first, and the number of those that wait; empty: none waits. */
    public Mono<PendingWebhooks> pending() {
        return read(operators, from -> {
            InboxEntry oldest = from.first(VIEW + " WHERE state = ? ORDER BY seq LIMIT 1", InboxReads::entry,
                    WebhookState.PENDING.number());
            return oldest == null
                    ? null
                    : new PendingWebhooks(oldest,
                            Math.max(1,
                                    from.number("SELECT coalesce(sum(entries), 0) FROM usage"
                                            + " WHERE source = '' AND state = ?",
                                            WebhookState.PENDING.number())));
        });
    }

    /** Loads the event sources with the most undelivered webhooks. */
    public Mono<List<SourceBacklog>> backlogs(int limit) {
        return read(operators, from -> from.list(BACKLOGS, InboxReads::backlog,
                WebhookState.PENDING.number(), WebhookState.DEAD.number(), WebhookState.PENDING.number(),
                WebhookState.DEAD.number(), WebhookState.PENDING.number(), WebhookState.DEAD.number(),
                limit));
    }

    private static SourceBacklog backlog(ResultSet row) throws SQLException {
        return new SourceBacklog(row.getString(1), row.getString(2), row.getLong(3), row.getLong(4),
                moment(row, 5), moment(row, 6));
    }

    private static @Nullable Instant moment(ResultSet row, int column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    /**
     * Loads the fields of a webhook and the first bytes of its body; empty: there is no such webhook, or its
     * content is not kept any more.
     */
    public Mono<WebhookHead> head(String id, int most) {
        return read(operators,
                from -> from.first("SELECT fields, substr(body, 1, ?), spool, size FROM contents"
                        + " JOIN webhooks USING (seq) WHERE id = ?", row -> {
                            String name = row.getString(3);
                            byte[] body = name == null ? row.getBytes(2) : beginning(spool.file(name), most);
                            return new WebhookHead(StoredFields.decode(row.getBytes(1)),
                                    body == null ? NOTHING : body, row.getLong(4));
                        }, most, id));
    }

    /** Nothing if the file is gone. */
    private static byte[] beginning(Path file, int most) {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(most);
        } catch (IOException gone) {
            return NOTHING;
        }
    }

    /**
     * Loads the newest entries of a query. Reads each state by its index alone, because a runtime may have a
     * million delivered webhooks.
     */
    public Mono<InboxPage> page(InboxQuery query) {
        List<WebhookState> states = query.state() == null
                ? List.of(WebhookState.values())
                : List.of(query.state());
        List<Object> filters = Stream.of(query.runtimeId(), query.source()).<Object>mapMulti((value, to) -> {
            if (value != null) {
                to.accept(value);
            }
        }).toList();
        String sql = pageOf(query);
        return read(operators, from -> {
            List<Row> rows = new ArrayList<>();
            // One snapshot for all states, so that a webhook whose state changes meanwhile appears in exactly
            // one of them.
            try (Statement view = from.connection().createStatement()) {
                view.execute("BEGIN");
                try {
                    for (WebhookState state : states) {
                        List<Object> values = new ArrayList<>(filters);
                        values.addAll(List.of(state.number(), cursor(query.after()), query.limit() + 1));
                        rows.addAll(
                                from.list(sql, row -> new Row(row.getLong(1), entry(row)), values.toArray()));
                    }
                } finally {
                    view.execute("ROLLBACK");
                }
            }
            rows.sort(Comparator.comparingLong(Row::seq).reversed());
            boolean more = rows.size() > query.limit();
            List<Row> shown = more ? rows.subList(0, query.limit()) : rows;
            return new InboxPage(shown.stream().map(Row::entry).toList(),
                    more ? Long.toString(shown.getLast().seq) : null);
        });
    }

    /** Returns the position before the first webhook of a selection. */
    public Mono<BulkCursor> start(BulkSelection selection, long now) {
        return read(operators, from -> selection.start(from, now));
    }

    /** Reads a page of a selection. */
    public Mono<BulkSelection.Page> page(BulkSelection selection, BulkCursor position, int limit) {
        return read(operators, from -> selection.page(from, position, limit));
    }

    /** Counts the webhooks of a selection. */
    public Mono<Long> count(BulkSelection selection, BulkCursor start) {
        return read(operators, from -> selection.count(from, start));
    }

    /** Returns the SQL of a page of one state. */
    static String pageOf(InboxQuery query) {
        return VIEW + " WHERE " + (query.runtimeId() == null ? "" : "runtime = ? AND ")
                + (query.source() == null ? "" : "source = ? AND ")
                + "state = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
    }

    private record Row(long seq, InboxEntry entry) {}

    private static long cursor(@Nullable String after) {
        try {
            return after == null ? Long.MAX_VALUE : Long.parseLong(after);
        } catch (NumberFormatException none) {
            return Long.MAX_VALUE;
        }
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
                row.getInt(11) - row.getInt(19), row.getInt(20),
                state == WebhookState.PENDING ? Instant.ofEpochMilli(row.getLong(12)) : null,
                row.getInt(13) != 0 && row.getInt(14) != 0, row.getString(15),
                Instant.ofEpochMilli(row.getLong(16)),
                hasEnded ? Instant.ofEpochMilli(ended) : null, row.getInt(18) != 0);
    }

    /** Waits for reads in progress, then closes the connections. */
    public Mono<Void> close() {
        return deliveries.close().then(operators.close()).then(Mono.fromRunnable(files::close));
    }
}

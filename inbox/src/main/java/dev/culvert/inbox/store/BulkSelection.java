package dev.culvert.inbox.store;

import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the webhooks of a {@link WebhookFilter}, oldest first, as they were when a change began. Each state
 * is read by its index in the order of the sequence numbers, which is the order of each event source.
 */
public final class BulkSelection {
    /** More are not counted. */
    private static final int MAX_COUNTED = 1_000_000;
    /** The time at which a webhook entered its state. Pending ones have not ended. */
    private static final String SINCE = "coalesce(ended, stored)";

    private final WebhookFilter filter;
    private final List<WebhookState> states;

    /** @param states the states of the webhooks, in the order in which they are changed */
    public BulkSelection(WebhookFilter filter, List<WebhookState> states) {
        this.filter = filter;
        this.states = filter.state() == null ? states : List.of(filter.state());
    }

    /**
     * A page of sequence numbers.
     *
     * @param seqs the numbers; empty: there are no more
     * @param from the position whose state they have
     */
    public record Page(List<Long> seqs, BulkCursor from) {}

    /** Returns the position before the first webhook. */
    BulkCursor start(Statements statements, long now) throws SQLException {
        return new BulkCursor(now, statements.number("SELECT last FROM sequence"), states.getFirst(), 0);
    }

    /** Reads the next page of at most {@code limit} webhooks. */
    Page page(Statements statements, BulkCursor from, int limit) throws SQLException {
        BulkCursor position = from;
        while (true) {
            List<Long> seqs = filter.ids().isEmpty()
                    ? statements.list(pageOf(filter), row -> row.getLong(1), values(position, limit))
                    : ofIds(statements, position, limit);
            WebhookState next = following(position.state());
            if (!seqs.isEmpty() || next == null) {
                return new Page(seqs, position);
            }
            position = position.in(next);
        }
    }

    private @Nullable WebhookState following(WebhookState state) {
        int next = states.indexOf(state) + 1;
        return !filter.ids().isEmpty() || next == 0 || next >= states.size() ? null : states.get(next);
    }

    private List<Long> ofIds(Statements statements, BulkCursor position, int limit) throws SQLException {
        Set<Long> seqs = new HashSet<>();
        for (String id : filter.ids()) {
            Long seq = statements.first("SELECT seq FROM webhooks WHERE id = ?", row -> row.getLong(1), id);
            if (seq != null && seq > position.seq() && seq <= position.last()
                    && row(statements, seq, position) != null) {
                seqs.add(seq);
            }
        }
        return seqs.stream().sorted().limit(limit).toList();
    }

    /**
     * Returns the SQL of a page of one state. Names its index: SQLite would read those of all runtimes for
     * those of one.
     */
    static String pageOf(WebhookFilter filter) {
        String index = filter.source() != null
                ? "webhooks_of_source"
                : filter.runtimeId() != null ? "webhooks_of_runtime" : "webhooks_by_state";
        return "SELECT seq FROM webhooks INDEXED BY " + index + " WHERE "
                + (filter.runtimeId() == null ? "" : "runtime = ? AND ")
                + (filter.source() == null ? "" : "source = ? AND ")
                + "state = ? AND seq > ? AND seq <= ? AND "
                + SINCE + " BETWEEN ? AND ? ORDER BY seq LIMIT ?";
    }

    private Object[] values(BulkCursor position, int limit) {
        List<Object> values = new ArrayList<>();
        if (filter.runtimeId() != null) {
            values.add(filter.runtimeId());
        }
        if (filter.source() != null) {
            values.add(filter.source());
        }
        values.addAll(List.of(position.state().number(), position.seq(), position.last(), earliest(),
                latest(position), limit));
        return values.toArray();
    }

    private long earliest() {
        return millis(filter.since(), 0);
    }

    private long latest(BulkCursor position) {
        return Math.min(position.moment(), millis(filter.until(), Long.MAX_VALUE) - 1);
    }

    private static long millis(@Nullable Instant time, long otherwise) {
        return time == null ? otherwise : time.toEpochMilli();
    }

    /** Returns the number of webhooks, a million at most. */
    long count(Statements statements, BulkCursor from) throws SQLException {
        if (!filter.ids().isEmpty()) {
            return ofIds(statements, from, WebhookFilter.MAX_IDS).size();
        }
        long found = 0;
        for (WebhookState state : states) {
            found += statements.number("SELECT count(*) FROM (" + pageOf(filter) + ")",
                    values(from.in(state), MAX_COUNTED));
        }
        return found;
    }

    /**
     * A webhook to change.
     *
     * @param replayable whether its content is still stored
     */
    record Candidate(String id, boolean replayable) {}

    /** Returns a webhook of a page; null: it has left the selection meanwhile. */
    @Nullable
    Candidate row(Statements statements, long seq, BulkCursor position) throws SQLException {
        record Row(Candidate candidate, String runtime, String source, WebhookState state) {}
        Row found = statements.first("SELECT id, content, runtime, source, state FROM webhooks WHERE seq = ?"
                + " AND " + SINCE + " BETWEEN ? AND ?",
                row -> new Row(new Candidate(row.getString(1), row.getInt(2) != 0), row.getString(3),
                        row.getString(4), WebhookState.at(row.getInt(5))),
                seq, earliest(), latest(position));
        return found != null && isOfFilter(found.runtime, found.source) && isOfState(found.state, position)
                ? found.candidate
                : null;
    }

    private boolean isOfFilter(String runtime, String source) {
        return (filter.runtimeId() == null || filter.runtimeId().equals(runtime))
                && (filter.source() == null || filter.source().equals(source));
    }

    /** Webhooks of several states that are given by their ids are changed in one order. */
    private boolean isOfState(WebhookState state, BulkCursor position) {
        return filter.ids().isEmpty() ? state == position.state() : states.contains(state);
    }
}

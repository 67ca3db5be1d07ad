package dev.culvert.inbox.store;

import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of the {@link CommitThread}. Checks the lease once, and writes the changed usage of each
 * source once, at the end.
 */
public final class Transaction {
    private final Statements statements;
    private final SqliteLease lease;
    private final KnownSources known;
    private final Totals totals;
    private final long now;
    private final Map<UsageKey, Usage> changes = new LinkedHashMap<>();
    private final Map<UsageKey, Usage> committed = new HashMap<>();
    private final Map<String, PendingSources> pendingSources = new HashMap<>();
    private final Set<String> reserved = new HashSet<>();
    private long last;
    private boolean stored;
    private @Nullable Boolean holding;

    private record UsageKey(String runtime, String source, WebhookState state) {
        boolean isOfPendingSource() {
            return state == WebhookState.PENDING && !source.isEmpty();
        }
    }

    /** Entries and their bytes. */
    record Usage(long entries, long bytes) {
        static final Usage NONE = new Usage(0, 0);

        Usage plus(Usage other) {
            return new Usage(entries + other.entries, bytes + other.bytes);
        }
    }

    /** The event sources of a runtime that have pending webhooks. */
    static final class PendingSources {
        private long all;
        private long unknown;
        private long unknownBytes;

        private void change(Usage before, Usage after, boolean known) {
            int more = Boolean.compare(after.entries > 0, before.entries > 0);
            all += more;
            if (!known) {
                unknown += more;
                unknownBytes += (after.entries > 0 ? after.bytes : 0)
                        - (before.entries > 0 ? before.bytes : 0);
            }
        }

        long all() {
            return all;
        }

        /** The number of those that are not known to exist. */
        long unknown() {
            return unknown;
        }

        /** The bytes of those that are not known to exist. */
        long unknownBytes() {
            return unknownBytes;
        }
    }

    Transaction(Statements statements, SqliteLease lease, KnownSources known, Totals totals, long now) {
        this.statements = statements;
        this.lease = lease;
        this.known = known;
        this.totals = totals;
        this.now = now;
    }

    public Statements statements() {
        return statements;
    }

    public int update(String sql, @Nullable Object... values) throws SQLException {
        return statements.update(sql, values);
    }

    long now() {
        return now;
    }

    /** The bytes of the file's free pages, which the next webhooks use. */
    public long reusableBytes() throws SQLException {
        return statements.number("PRAGMA freelist_count") * statements.number("PRAGMA page_size");
    }

    /** The sequence number of the newest webhook. */
    long last() {
        return last;
    }

    /**
     * Starts the transaction. Returns the sources of webhooks that other processes stored after
     * {@code known}.
     */
    List<SourceKey> begin(long known) throws SQLException {
        last = statements.number("SELECT last FROM sequence");
        return last == known ? List.of() : WebhookRows.storedSince(statements, known);
    }

    long nextSeq() {
        stored = true;
        return ++last;
    }

    /** Whether this process may deliver. */
    public boolean isHolding() throws SQLException {
        Boolean known = holding;
        if (known == null) {
            try {
                lease.check(statements.connection());
                known = true;
            } catch (StoreException.Held gone) {
                known = false;
            }
            holding = known;
        }
        return known;
    }

    /** Takes the lease for this process. */
    public void take() throws SQLException {
        lease.take(statements.connection());
        holding = true;
    }

    /** Renews the lease of this process. Throws {@link StoreException.Held}. */
    public void renew() throws SQLException {
        lease.renew(statements.connection());
    }

    /** Returns the lease, so that another process may deliver. */
    public void giveBack() throws SQLException {
        lease.giveBack(statements.connection());
        holding = false;
    }

    /** Throws {@link StoreException.Held} if another process delivers. */
    void requireLease() throws SQLException {
        if (!isHolding()) {
            throw new StoreException.Held("another process delivers the webhooks");
        }
    }

    /** Whether this is the first call for the source in this transaction. */
    boolean isFirst(String runtime, String source) {
        return reserved.add(runtime + '\n' + source);
    }

    /** Counts webhooks that enter a state, or with negative numbers leave it. */
    void count(String runtime, String source, WebhookState state, int entries, long bytes)
            throws SQLException {
        var key = new UsageKey(runtime, source, state);
        var usage = new Usage(entries, bytes);
        PendingSources ofRuntime = pendingSources.get(runtime);
        if (ofRuntime != null && key.isOfPendingSource()) {
            Usage before = used(runtime, source, state);
            ofRuntime.change(before, before.plus(usage), isKnown(runtime, source));
        }
        changes.merge(key, usage, Usage::plus);
        changes.merge(new UsageKey(runtime, "", state), usage, Usage::plus);
    }

    /** Returns the pending usage of a source, or of all sources if {@code source} is empty. */
    Usage pending(String runtime, String source) throws SQLException {
        return used(runtime, source, WebhookState.PENDING);
    }

    /** Returns the event sources with pending webhooks of a runtime. Read once in a transaction. */
    PendingSources pendingSources(String runtime) throws SQLException {
        PendingSources present = pendingSources.get(runtime);
        if (present == null) {
            present = readPendingSources(runtime);
            pendingSources.put(runtime, present);
        }
        return present;
    }

    private PendingSources readPendingSources(String runtime) throws SQLException {
        Map<String, Usage> usages = new HashMap<>();
        Set<String> strange = new HashSet<>();
        statements.list(
                "SELECT source, entries, bytes, NOT EXISTS (SELECT 1 FROM sources"
                        + " WHERE sources.runtime = usage.runtime AND sources.source = usage.source)"
                        + " FROM usage WHERE runtime = ? AND state = 0 AND source <> '' AND entries > 0",
                row -> {
                    usages.put(row.getString(1), new Usage(row.getLong(2), row.getLong(3)));
                    return row.getInt(4) == 0 || strange.add(row.getString(1));
                }, runtime);
        for (UsageKey key : List.copyOf(changes.keySet())) {
            if (key.runtime.equals(runtime) && key.isOfPendingSource()) {
                usages.put(key.source, used(runtime, key.source, key.state));
                if (!isKnown(runtime, key.source)) {
                    strange.add(key.source);
                }
            }
        }
        var read = new PendingSources();
        usages.forEach((source, usage) -> read.change(Usage.NONE, usage, !strange.contains(source)));
        return read;
    }

    /** Whether an event source is known to exist. */
    boolean isKnown(String runtime, String source) throws SQLException {
        return known.has(statements, runtime, source);
    }

    void addKnown(String runtime, String source) throws SQLException {
        if (known.add(statements, runtime, source)) {
            pendingSources.remove(runtime);
        }
    }

    /** Returns the totals before this transaction. */
    public Totals totals() throws SQLException {
        totals.refresh(statements);
        return totals;
    }

    /** Returns the changes of this transaction to the totals. */
    Map<WebhookState, Usage> changed() {
        Map<WebhookState, Usage> changed = new EnumMap<>(WebhookState.class);
        changes.forEach((key, usage) -> {
            if (key.source.isEmpty()) {
                changed.merge(key.state, usage, Usage::plus);
            }
        });
        return changed;
    }

    private Usage used(String runtime, String source, WebhookState state) throws SQLException {
        var key = new UsageKey(runtime, source, state);
        Usage before = committed.get(key);
        if (before == null) {
            before = statements.first(
                    "SELECT entries, bytes FROM usage WHERE runtime = ? AND source = ? AND state = ?",
                    row -> new Usage(row.getLong(1), row.getLong(2)), runtime, source, state.number());
            before = before == null ? Usage.NONE : before;
            committed.put(key, before);
        }
        return before.plus(changes.getOrDefault(key, Usage.NONE));
    }

    /** Writes the sequence number and the changed usage. */
    void finish() throws SQLException {
        if (stored) {
            update("UPDATE sequence SET last = ?", last);
        }
        for (Map.Entry<UsageKey, Usage> change : changes.entrySet()) {
            UsageKey key = change.getKey();
            update("INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                    + " entries = entries + excluded.entries, bytes = bytes + excluded.bytes", key.runtime,
                    key.source, key.state.number(), change.getValue().entries, change.getValue().bytes);
            if (change.getValue().entries < 0) {
                update("DELETE FROM usage WHERE runtime = ? AND source = ? AND state = ? AND entries <= 0",
                        key.runtime, key.source, key.state.number());
            }
        }
    }
}

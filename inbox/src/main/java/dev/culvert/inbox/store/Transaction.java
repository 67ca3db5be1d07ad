package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.Naming;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.sql.ResultSet;
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
            ofRuntime.change(source, before, before.plus(usage), isKnown(runtime, source));
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
        Set<String> proven = new HashSet<>();
        var read = new PendingSources();
        statements.list(
                "SELECT source, network, v6, name, since, nameless, last FROM new_sources WHERE runtime = ?",
                Transaction::newSource, runtime).forEach(read::describe);
        statements.list(
                "SELECT source, entries, bytes, EXISTS (SELECT 1 FROM sources"
                        + " WHERE sources.runtime = usage.runtime AND sources.source = usage.source)"
                        + " FROM usage WHERE runtime = ? AND state = 0 AND source <> '' AND entries > 0",
                row -> {
                    usages.put(row.getString(1), new Usage(row.getLong(2), row.getLong(3)));
                    return row.getInt(4) == 0 || proven.add(row.getString(1));
                }, runtime);
        for (UsageKey key : List.copyOf(changes.keySet())) {
            if (key.runtime.equals(runtime) && key.isOfPendingSource()) {
                usages.put(key.source, used(runtime, key.source, key.state));
                if (isKnown(runtime, key.source)) {
                    proven.add(key.source);
                }
            }
        }
        usages.forEach(
                (source, usage) -> read.change(source, Usage.NONE, usage, proven.contains(source)));
        return read;
    }

    private static NewSource newSource(ResultSet row) throws SQLException {
        long network = row.getLong(2);
        boolean v6 = row.getInt(3) != 0;
        return new NewSource(row.getString(1),
                network == 0 && !v6 ? SourceAddress.UNKNOWN : new SourceAddress(network, v6),
                new NewSource.Name(Naming.at(row.getInt(4)), row.getLong(6), row.getLong(7)), row.getLong(5),
                Usage.NONE);
    }

    /** A webhook of a source that is not known to exist is about to be stored, for {@code owner}. */
    void open(String runtime, String source, SourceAddress owner) throws SQLException {
        PendingSources ofRuntime = pendingSources(runtime);
        NewSource present = ofRuntime.unknown(source);
        if (present != null && present.from().equals(owner)) {
            return;
        }
        NewSource before = ofRuntime.described(source);
        update("INSERT INTO new_sources VALUES (?, ?, ?, ?, 0, ?, 0, 0) ON CONFLICT DO UPDATE SET"
                + " network = excluded.network, v6 = excluded.v6", runtime, source, owner.network(),
                owner.v6() ? 1 : 0, now);
        ofRuntime.describe(
                new NewSource(source, owner, before == null ? NewSource.Name.UNCLEAR : before.name(),
                        before == null ? now : before.since(), Usage.NONE));
    }

    /** An attempt has shown something about the name of a source in the cluster. */
    public void named(String runtime, String source, Naming shown) throws SQLException {
        if (pending(runtime, source).entries() > 0 && !isKnown(runtime, source)) {
            NewSource.Name name = NewSource.Name.UNCLEAR.then(shown, now);
            update("INSERT INTO new_sources VALUES (?, ?, 0, 0, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                    + " nameless = CASE WHEN name = 1 AND excluded.name = 1"
                    + " THEN min(nameless, excluded.nameless) ELSE excluded.nameless END,"
                    + " last = excluded.last, name = excluded.name WHERE name <> 2", runtime, source,
                    shown.number, now, name.first(), name.last());
            PendingSources ofRuntime = pendingSources.get(runtime);
            if (ofRuntime != null) {
                NewSource before = ofRuntime.described(source);
                ofRuntime.describe(before == null
                        ? new NewSource(source, SourceAddress.UNKNOWN, name, now, Usage.NONE)
                        : before.with(before.name().then(shown, now)));
            }
        }
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
                int gone = update(
                        "DELETE FROM usage WHERE runtime = ? AND source = ? AND state = ? AND entries <= 0",
                        key.runtime, key.source, key.state.number());
                if (gone > 0 && key.isOfPendingSource() && !isKnown(key.runtime, key.source)) {
                    update("DELETE FROM new_sources WHERE runtime = ? AND source = ?", key.runtime,
                            key.source);
                }
            }
        }
    }
}

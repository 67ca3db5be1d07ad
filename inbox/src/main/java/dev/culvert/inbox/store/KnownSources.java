package dev.culvert.inbox.store;

import dev.culvert.inbox.queue.DispatchPlan;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * The event sources that are known to exist: they accepted a webhook, or the cluster's configuration names
 * them. If the allow-list has a wildcard, callers can invent others, which share a small quota
 * ({@link InboxQuota}). Belongs to the commit thread.
 */
public final class KnownSources {
    /** The maximum number of cached names, which need no query. */
    private static final int CACHED = 10_000;
    /** The maximum number of a runtime's rows, for each source that may have pending webhooks at once. */
    public static final int ROWS = 4;

    private final Set<String> cached = new HashSet<>();
    private final long most;

    /** @param maxSources the maximum number of a runtime's sources with pending webhooks */
    public KnownSources(int maxSources) {
        this.most = (long) ROWS * maxSources;
    }

    boolean has(Statements statements, String runtime, String source) throws SQLException {
        String name = DispatchPlan.name(runtime, source);
        if (cached.contains(name)) {
            return true;
        }
        boolean there = statements.number("SELECT count(*) FROM sources WHERE runtime = ? AND source = ?",
                runtime, source) > 0;
        if (there) {
            if (cached.size() >= CACHED) {
                cached.clear();
            }
            cached.add(name);
        }
        return there;
    }

    /**
     * Records a known source. Over the bound of its runtime it is not recorded: a runtime that accepts
     * everything does not prove that names exist. Returns whether the source is newly known.
     */
    boolean add(Statements statements, String runtime, String source) throws SQLException {
        if (has(statements, runtime, source)
                || statements.number("SELECT count(*) FROM sources WHERE runtime = ?", runtime) >= most) {
            return false;
        }
        statements.update("DELETE FROM new_sources WHERE runtime = ? AND source = ?", runtime, source);
        return statements.update("INSERT INTO sources VALUES (?, ?)", runtime, source) == 1;
    }

    /** Removes the sources of a deleted runtime. */
    public static void forget(Statements statements, String runtime) throws SQLException {
        statements.update("DELETE FROM sources WHERE runtime = ?", runtime);
        statements.update("DELETE FROM new_sources WHERE runtime = ?", runtime);
    }
}

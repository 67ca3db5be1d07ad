package dev.culvert.inbox.store;

import dev.culvert.inbox.queue.DispatchPlan;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * The event sources that are known to be there: one that accepted a webhook, or that the cluster's configuration names. Callers
 * can invent others where the allow-list has a wildcard: those share a small quota ({@link InboxQuota}). Of the commit thread.
 */
public final class KnownSources {
    /** Names that are known without a look at the table. */
    private static final int CACHED = 10_000;
    /** Rows of a runtime, for each source that may have pending webhooks at once. */
    public static final int ROWS = 4;

    private final Set<String> cached = new HashSet<>();
    private final long most;

    /** @param maxSources of a runtime, with pending webhooks */
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

    /** From now on it is known. Beyond the bound of its runtime it is not noted: where everything is accepted names prove nothing. */
    void add(Statements statements, String runtime, String source) throws SQLException {
        if (!has(statements, runtime, source)
                && statements.number("SELECT count(*) FROM sources WHERE runtime = ?", runtime) < most) {
            statements.update("INSERT INTO sources VALUES (?, ?)", runtime, source);
        }
    }

    /** A runtime was deleted. */
    public static void forget(Statements statements, String runtime) throws SQLException {
        statements.update("DELETE FROM sources WHERE runtime = ?", runtime);
    }
}

package dev.culvert.server;

import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.store.SqliteRuntimeStore;
import org.jspecify.annotations.Nullable;

/**
 * Whose callers are asked for certificates in the TLS handshake: those who ask for the host of a runtime whose rules want
 * some. Others are not, as browsers would ask their users. Asked by any thread, never waits.
 */
final class ClientCertRequests {
    /** Set once the store is open, before any listener is. */
    private volatile @Nullable SqliteRuntimeStore store;

    void read(SqliteRuntimeStore runtimes) {
        store = runtimes;
    }

    /** Whether there is any such runtime. */
    boolean any() {
        SqliteRuntimeStore runtimes = store;
        return runtimes != null && runtimes.asksForCertificates();
    }

    /** Whether those are asked who ask for this host; null: they ask for none. */
    boolean of(@Nullable String serverName) {
        SqliteRuntimeStore runtimes = store;
        if (runtimes == null || serverName == null) {
            return false;
        }
        RegisteredRuntime runtime = runtimes.byHost(serverName);
        AccessRules rules = runtime == null ? AccessRules.NONE : runtime.access();
        return rules.asksForCertificates();
    }
}

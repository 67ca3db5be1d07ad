package dev.culvert.server;

import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.store.SqliteRuntimeStore;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the TLS handshake requests a client certificate. It does so for the hosts of runtimes whose
 * access rules check one, and for no others, because browsers would prompt their users. Callable from any
 * thread; never blocks.
 */
final class ClientCertRequests {
    /** Set when the store is open, before any listener is. */
    private volatile @Nullable SqliteRuntimeStore store;

    void read(SqliteRuntimeStore runtimes) {
        store = runtimes;
    }

    /** Whether the rules of any runtime check client certificates. */
    boolean any() {
        SqliteRuntimeStore runtimes = store;
        return runtimes != null && runtimes.asksForCertificates();
    }

    /**
     * Whether a handshake for this server name requests a certificate. Null: the caller sent no server name.
     */
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

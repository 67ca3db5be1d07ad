package dev.culvert.server;

import dev.culvert.http.fields.HostName;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.direct.PlatformHost;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.store.SqliteRuntimeStore;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the TLS handshake requests a client certificate. It does so for the hosts of runtimes whose
 * access rules check one, and for no others, because browsers would prompt their users. Callable from any
 * thread; never blocks.
 */
final class ClientCertRequests {
    private final @Nullable PlatformHost platform;
    /** Set when the store is open, before any listener is. */
    private volatile @Nullable SqliteRuntimeStore store;

    /** @param platform the host of the platform; null: none */
    ClientCertRequests(@Nullable PlatformHost platform) {
        this.platform = platform;
    }

    void read(SqliteRuntimeStore runtimes) {
        store = runtimes;
    }

    /** Whether the rules of any runtime check client certificates. */
    boolean any() {
        SqliteRuntimeStore runtimes = store;
        return runtimes != null && (runtimes.asksForCertificates()
                || (platform != null && platform.rules().asksForCertificates()));
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
        if (platform != null && platform.host().equals(HostName.of(serverName))) {
            rules = platform.rules();
        }
        return rules.asksForCertificates();
    }
}

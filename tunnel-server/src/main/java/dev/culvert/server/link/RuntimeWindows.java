package dev.culvert.server.link;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.protocol.session.WindowAccount;

/**
 * Whom the windows of a session's streams are charged to: its runtime, with all its sessions. Safe for use by
 * any thread.
 */
public final class RuntimeWindows {
    private final WindowPool pool;
    /** By the runtime's id; a session holds its account as long as it lives. */
    private final Cache<String, WindowAccount> accounts = Caffeine.newBuilder().weakValues().build();

    public RuntimeWindows(WindowPool pool) {
        this.pool = pool;
    }

    /** An account for a session until its runtime is known. */
    WindowAccount unknown() {
        return pool.account();
    }

    /** The account of a runtime. */
    WindowAccount of(String runtimeId) {
        return accounts.get(runtimeId, id -> pool.account());
    }
}

package dev.culvert.platform.runtimes.store;

import org.jspecify.annotations.Nullable;

/**
 * A deleted runtime that the tunnel server may still have.
 *
 * @param since seconds since 1970
 * @param refusal why the tunnel server keeps it; null: it has not refused
 * @param force whether webhooks that wait there are deleted, too
 */
public record EndedRuntime(String account, String name, long since, @Nullable String refusal,
        boolean force) {}

package dev.culvert.server.store;

import java.time.Instant;

/**
 * A change through the admin API.
 *
 * @param when it was asked for
 * @param who the admin token's name
 * @param remote the caller's address
 * @param requestId as in the logs
 * @param what the kind of change, fixed text: {@code runtime created}
 * @param thing what was changed
 */
public record AuditEntry(Instant when, String who, String remote, String requestId, String what,
        String thing) {}

package dev.culvert.server.store;

import dev.culvert.http.observe.AuditTrail;
import java.time.Instant;

/**
 * A change made through the admin API.
 *
 * @param time the time of the request
 * @param user the name of the admin token
 * @param address the caller's address
 * @param requestId the request id, as in the logs
 * @param action the kind of change, a fixed text: {@code runtime created}
 * @param object the name of the changed object
 */
public record AuditEntry(Instant time, String user, String address, String requestId, String action,
        String object) {
    /** Returns the record with the keys of all audit logs. */
    public AuditTrail.Entry entry() {
        return new AuditTrail.Entry(user, null, action, "server", object, AuditTrail.Decision.ALLOWED,
                requestId, address, null);
    }
}

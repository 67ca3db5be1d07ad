package dev.culvert.server.store;

import dev.culvert.store.TransactionPart;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A pending audit entry in the Reactor context of a change. The first transaction of the change writes it, so
 * there is no change without its entry, and no entry without its change.
 */
public final class AuditMark implements TransactionPart {
    private final AuditEntry entry;
    private volatile boolean written;

    public AuditMark(AuditEntry entry) {
        this.entry = entry;
    }

    public AuditEntry entry() {
        return entry;
    }

    public boolean isWritten() {
        return written;
    }

    @Override
    public void write(Connection connection) throws SQLException {
        if (!written) {
            SqliteAudit.write(connection, entry);
        }
    }

    @Override
    public void committed() {
        written = true;
    }
}

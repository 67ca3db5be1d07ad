package dev.culvert.server;

import dev.culvert.edge.sqlite.WrittenWith;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * An entry on its way, in the Reactor context of a change: the change's first transaction writes it, so that there is
 * neither a change without its entry nor an entry without its change.
 */
final class AuditMark implements WrittenWith {
    private final AuditEntry entry;
    private volatile boolean written;

    AuditMark(AuditEntry entry) {
        this.entry = entry;
    }

    AuditEntry entry() {
        return entry;
    }

    boolean isWritten() {
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

package dev.culvert.server;

/**
 * An entry on its way, in the Reactor context of a change: the change's first transaction writes it, so that there is
 * neither a change without its entry nor an entry without its change.
 */
final class AuditMark {
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

    /** The transaction with the entry was committed. */
    void written() {
        written = true;
    }
}

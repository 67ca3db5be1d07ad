package dev.culvert.store;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * What is to be written in the same transaction as a change: under the key {@code WrittenWith.class} in the Reactor context
 * of {@link SqliteDatabase#transact}. Called on the database's thread.
 */
public interface TransactionPart {
    /** Writes, in the change's transaction; called again when a chain of changes has several. */
    void write(Connection connection) throws SQLException;

    /** The transaction was committed. */
    void committed();
}

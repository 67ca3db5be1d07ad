package dev.culvert.store;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Data to write in the same transaction as a change. Passed under the key {@code TransactionPart.class} in
 * the Reactor context of {@link SqliteDatabase#transact}. Called on the database's thread.
 */
public interface TransactionPart {
    /**
     * Writes the data in the change's transaction. Called once for each transaction of a chain of changes.
     */
    void write(Connection connection) throws SQLException;

    /** Called after the transaction was committed. */
    void committed();
}

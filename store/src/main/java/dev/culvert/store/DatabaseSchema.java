package dev.culvert.store;

import java.sql.Connection;
import java.sql.SQLException;

/** Creates and migrates the tables of a database. */
public interface DatabaseSchema {
    /**
     * Migrates the database to the newest version, in the caller's transaction. Blocks. Throws SQLException
     * with a message for operators when a newer program wrote the database.
     */
    void migrate(Connection connection) throws SQLException;
}

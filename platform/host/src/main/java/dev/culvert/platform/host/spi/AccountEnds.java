package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;

/** Tells modules that an account is being deleted. */
public interface AccountEnds {
    /** Deletes what a module keeps for an account, in the transaction that deletes the account. */
    @FunctionalInterface
    interface Forgetting {
        void forget(Connection change, String account) throws SQLException;
    }

    /** Adds work for the end of an account. Called by {@code create}. */
    void add(Forgetting forgetting);

    /** Runs the work of all modules. Called by the module that holds accounts, before it deletes one. */
    void ended(Connection change, String account) throws SQLException;
}

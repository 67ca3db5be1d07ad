package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;

/** Tells modules that a runtime is being deleted. The twin of {@link AccountEnds}. */
public interface RuntimeEnds {
    /** Deletes what a module keeps for a runtime, in the transaction that deletes the runtime. */
    @FunctionalInterface
    interface Forgetting {
        void forget(Connection change, String account, String runtime) throws SQLException;
    }

    /** Adds work for the end of a runtime. Called by {@code create}. */
    void add(Forgetting forgetting);

    /** Runs the work of all modules. Called by the module that holds runtimes, before it deletes one. */
    void ended(Connection change, String account, String runtime) throws SQLException;
}

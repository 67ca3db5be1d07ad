package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import reactor.core.publisher.Mono;

/**
 * The platform's database: SQLite or PostgreSQL, with the same statements ({@link TableVersions}). A module
 * uses its own tables only. Work must be short: on SQLite all of it runs one after the other. Errors: {@link
 * dev.culvert.store.StoreException}.
 */
public interface Store {
    /**
     * Work in a transaction. What it throws rolls the transaction back. It may be run again after a deadlock,
     * so it keeps nothing of an earlier run.
     */
    @FunctionalInterface
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs work that only reads, in one snapshot. */
    <T> Mono<T> read(Work<T> work);

    /**
     * Runs work and commits it, while no other change runs, in this process or another. For what is checked
     * or counted over all accounts. Cancelling drops work that has not begun.
     */
    <T> Mono<T> change(Work<T> work);

    /**
     * Runs work and commits it, while no other change of this account and none of all accounts runs. What is
     * checked before it is written stays true. Cancelling drops work that has not begun.
     *
     * @param account the id of the account; the work changes rows of no other one
     */
    <T> Mono<T> change(String account, Work<T> work);

    /**
     * Milliseconds since 1970, for what ends for all processes: by the database's clock where several use
     * it, else by {@code own}. Blocks.
     */
    default long now(Connection connection, Clock own) throws SQLException {
        return own.millis();
    }
}

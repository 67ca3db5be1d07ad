package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;
import reactor.core.publisher.Mono;

/**
 * The platform's database. A module uses its own tables only. All work runs on the database's own thread, one
 * after the other, so it must be short. Errors: {@link dev.culvert.store.StoreException}.
 */
public interface Store {
    /** Work in a transaction, on the database's thread. What it throws rolls the transaction back. */
    @FunctionalInterface
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs work that only reads. */
    <T> Mono<T> read(Work<T> work);

    /** Runs work and commits it. Cancelling drops work that has not begun. */
    <T> Mono<T> change(Work<T> work);
}

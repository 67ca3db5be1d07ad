package dev.culvert.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A database with transactions, behind which nobody knows the engine. Its tables are migrated when it is
 * open. Callable from any thread. Errors: {@link StoreException}.
 */
public interface Database {
    /** The engines. Their SQL is the same but for what a {@code switch} over this names. */
    enum Engine {
        /** A file of this process alone: one thread, one transaction at a time. */
        SQLITE,
        /** A server that several processes use at the same time. */
        POSTGRES
    }

    /**
     * Work in a transaction. The transaction is committed when the work returns and rolled back when it
     * throws. A server may ask for the work again when it had to end the transaction of a deadlock, so it
     * must not keep what an earlier run has left.
     */
    @FunctionalInterface
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    Engine engine();

    /** Runs work that only reads, in one snapshot. Empty only if {@code work} returns null. */
    <T> Mono<T> read(Work<T> work);

    /**
     * As {@link #read}, before all that waits: for the one read that tells this process what others have
     * changed. At most one at a time.
     */
    default <T> Mono<T> readFirst(Work<T> work) {
        return read(work);
    }

    /**
     * Runs {@code work} in a transaction that excludes others by {@code scope}, then calls {@code then} with
     * the result, on the thread of the work and once it is committed. Cancelling drops work that has not
     * begun. Errors: also {@link StoreException.Unknown} when the commit may have happened.
     */
    <T, R> Mono<R> transact(LockScope scope, Work<T> work, Function<T, R> then);

    /** Never completes; fails when another process has taken over a database that one process may use. */
    Mono<Void> lost();

    /** Why the database can't be used now; null: it can, as far as the last operation showed. */
    default @Nullable String away() {
        return null;
    }

    /** What operators should know of, though it works. Errors: {@link StoreException}. */
    default Mono<List<String>> troubles() {
        return Mono.just(List.of());
    }

    /** Waits for running work and closes the database. Completes empty. */
    Mono<Void> close();
}

package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Work of this module that one process of several does at a time, as what a clock starts. Where one process
 * alone uses the database, it always has the turn.
 */
public interface Turns {
    /**
     * Runs {@code work} once in {@code period}, on any thread, while this process has the turn of this name.
     * The next run begins when the last one has ended; its errors are logged. A process that dies loses its
     * turn 15 s later, and another one gets it. Disposing cancels the work and gives the turn to another
     * process at once.
     *
     * @param name names the work within the module
     */
    Disposable repeat(String name, Duration period, Work work);

    /** Work of the process that has the turn. */
    @FunctionalInterface
    interface Work {
        /** Does it. Cancelled when the turn is lost. */
        Mono<Void> run(Turn turn);
    }

    /** The turn that this process had when the work began. */
    interface Turn {
        /**
         * Throws {@link Lost} unless this process has the turn still. It keeps it until the change is
         * committed, so that no other process does the same. Blocks.
         */
        void require(Connection change) throws SQLException;
    }

    /** Another process has the turn. Rolls back the change. */
    final class Lost extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Lost(String name) {
            super("another process does " + name + " now", null, false, false);
        }
    }
}

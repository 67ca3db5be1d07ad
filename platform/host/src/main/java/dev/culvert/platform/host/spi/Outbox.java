package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;
import reactor.core.publisher.Mono;

/**
 * Messages of this module to other parts. A message is stored in the transaction of the change that it tells
 * of, and delivered until that succeeds, also after a crash: at least once, in order for each target, with
 * back-off from 1 s to 1 minute. After 7 days without success it is dropped, which is logged and counted.
 */
public interface Outbox {
    /** The largest message, in characters. */
    int MAX_CHARS = 64 << 10;

    /**
     * Adds a message to a change of this account or of all accounts. Blocks. Throws {@link
     * dev.culvert.store.StoreException.Full}, which names the outbox, when 1,000 messages of the account or
     * 10,000 of all wait; the change must then fail.
     */
    void add(Connection change, String account, String target, String body) throws SQLException;

    /** Whether a message of this module to a target waits. Blocks. */
    boolean isWaiting(Connection connection, String account, String target) throws SQLException;

    /** Sets who delivers this module's messages. Called once, by {@code create}. */
    void deliver(Courier courier);

    /** Delivers messages. */
    @FunctionalInterface
    interface Courier {
        /**
         * Delivers a message within 30 s. Completing means delivered, or not to be delivered ever; an error
         * means to try again later, its message is shown to operators.
         */
        Mono<Void> deliver(OutboxEntry entry);
    }
}

package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The platform's change feed. The last 10,000 events are kept. */
public interface Events {
    /**
     * Adds an event to a change. It is stored and numbered right before the commit, so that numbers are in
     * the order of commits; followers get it when the change is committed.
     */
    void add(Connection change, String account, String kind, @Nullable String subject) throws SQLException;

    /**
     * The events of this module in an account after {@code since}, at most 1,000; if negative, only the
     * present position. Blocks.
     */
    EventPage since(Connection connection, String account, long since) throws SQLException;

    /**
     * Runs {@code listener} with the account of each event of this module that this process has committed, on
     * the thread of the change; it must not block. For what one process should do and not all. Nothing is
     * told of a change that may have been committed.
     */
    Disposable onCommit(Consumer<String> listener);

    /**
     * The events of all modules and accounts that are committed from now on, in order, read at the
     * subscriber's pace. A subscriber that lags behind the kept events misses those that were deleted. Never
     * completes; ends with the host.
     */
    default Flux<Event> follow() {
        return follow(isCurrent -> {});
    }

    /**
     * As above. Runs {@code begun} when it follows: each event that is committed from then on is emitted.
     * Runs it again for each subscription, when the database was away, and when it went back to earlier
     * events (a restored backup, a replica that lagged): whatever the follower knows from before may be wrong
     * then. It gets what tells whether all events that are older than 60 s were emitted; while they were not,
     * for lack of the database, the follower should not rely on what it keeps.
     */
    Flux<Event> follow(Consumer<BooleanSupplier> begun);
}

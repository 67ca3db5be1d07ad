package dev.culvert.server.tunnel;

import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.store.StoreException;
import java.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Hands what happens to those who watch. Nobody who publishes waits: a watcher that reads too slowly misses the oldest
 * events, and is told how many. Callable from any thread.
 */
public final class ServerEvents {
    /** Operators' screens and scripts: enough for both, and too few to matter. */
    public static final int MAX_WATCHERS = 32;
    /** What a watcher may have to read still: a storm of 1,000 runtimes. */
    static final int MAX_QUEUED = 1024;

    private final Clock clock;
    private final Set<EventQueue> watchers = ConcurrentHashMap.newKeySet();
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean ended;

    public ServerEvents(Clock clock) {
        this.clock = clock;
    }

    /** Tells all watchers. */
    public void publish(ServerEvent event) {
        for (EventQueue watcher : watchers) {
            watcher.offer(event);
        }
    }

    public boolean isWatched() {
        return !watchers.isEmpty();
    }

    /** Tells all watchers of one session. */
    public void publish(ServerEvent.Kind kind, LiveSession session, @Nullable String cause) {
        if (isWatched()) {
            publish(new ServerEvent.OfTunnel(clock.instant(), kind, session.runtime.name(),
                    session.id.toString(),
                    session.generation, session.remote, cause));
        }
    }

    /** The same, of what is not about one session. */
    public void publish(ServerEvent.Kind kind, RuntimeName runtime, long generation, @Nullable String remote,
            @Nullable String cause) {
        if (isWatched()) {
            publish(new ServerEvent.OfTunnel(clock.instant(), kind, runtime, null, generation, remote,
                    cause));
        }
    }

    /**
     * What happens from the subscription on, until {@link #end}. Errors: {@link StoreException.Busy} when {@link
     * #MAX_WATCHERS} watch already. Cancelling stops watching.
     */
    public Flux<Seen> watch() {
        return Flux.create(sink -> {
            if (count.incrementAndGet() > MAX_WATCHERS) {
                count.decrementAndGet();
                sink.error(full());
                return;
            }
            var queue = new EventQueue(sink, MAX_QUEUED);
            watchers.add(queue);
            sink.onDispose(() -> {
                watchers.remove(queue);
                count.decrementAndGet();
            });
            sink.onRequest(more -> queue.drain());
            if (ended) {
                queue.end();
            }
        }, FluxSink.OverflowStrategy.IGNORE);
    }

    /** Whether one more would be refused now. */
    public boolean isFull() {
        return count.get() >= MAX_WATCHERS;
    }

    /** What a watcher gets. */
    public sealed interface Seen {
        /** An event. */
        record Event(ServerEvent event) implements Seen {}

        /** Events that it missed, before the one that follows. */
        record Missed(long count) implements Seen {}
    }

    public static StoreException full() {
        return new StoreException.Busy(MAX_WATCHERS + " callers watch the events already, no more can");
    }

    /** The server stops; those who watch see the rest. */
    public void stopping() {
        publish(new ServerEvent.Stopping(clock.instant()));
    }

    /** Ends all streams, once what was published is read. */
    public void end() {
        ended = true;
        watchers.forEach(EventQueue::end);
    }
}

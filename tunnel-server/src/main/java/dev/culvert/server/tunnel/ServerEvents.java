package dev.culvert.server.tunnel;

import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.store.StoreException;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Distributes events to watchers. Publishing never blocks: a watcher that reads too slowly misses the oldest
 * events, and receives the number of missed events. Callable from any thread.
 */
public final class ServerEvents {
    /**
     * The maximum number of watchers: enough for operators' screens and scripts, and too few to cost much.
     */
    public static final int MAX_WATCHERS = 32;
    /** The maximum number of unread events of a watcher: a storm of 1,000 runtimes. */
    static final int MAX_QUEUED = 1024;

    private final Clock clock;
    private final Set<EventQueue> watchers = ConcurrentHashMap.newKeySet();
    private final List<Consumer<ServerEvent>> followers = new CopyOnWriteArrayList<>();
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean ended;

    public ServerEvents(Clock clock) {
        this.clock = clock;
    }

    /** Publishes an event to all watchers. */
    public void publish(ServerEvent event) {
        for (EventQueue watcher : watchers) {
            watcher.offer(event);
        }
        for (Consumer<ServerEvent> follower : followers) {
            follower.accept(event);
        }
    }

    /**
     * Calls {@code follower} for each event, on the thread that publishes it, until the result is disposed.
     * The follower must not block. For parts of this server, which are few; callers use {@link #watch}.
     */
    public Disposable follow(Consumer<ServerEvent> follower) {
        followers.add(follower);
        return () -> followers.remove(follower);
    }

    /** Whether a caller watches. */
    public boolean isWatched() {
        return !watchers.isEmpty();
    }

    /** Whether anybody learns of an event, so that it is worth making. */
    public boolean isHeard() {
        return isWatched() || !followers.isEmpty();
    }

    /** Publishes an event of one session. */
    public void publish(ServerEvent.Kind kind, LiveSession session, @Nullable String cause) {
        if (isHeard()) {
            publish(new ServerEvent.OfTunnel(clock.instant(), kind, session.runtime.name(),
                    session.id.toString(),
                    session.generation, session.remote, cause));
        }
    }

    /** Publishes an event of a runtime that concerns no single session. */
    public void publish(ServerEvent.Kind kind, RuntimeName runtime, long generation, @Nullable String remote,
            @Nullable String cause) {
        if (isHeard()) {
            publish(new ServerEvent.OfTunnel(clock.instant(), kind, runtime, null, generation, remote,
                    cause));
        }
    }

    /**
     * The events from the subscription on, until {@link #end}. Errors: {@link StoreException.Busy} when
     * {@link #MAX_WATCHERS} watch already. Cancelling stops watching.
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

    /** Whether another watcher would be refused now. */
    public boolean isFull() {
        return count.get() >= MAX_WATCHERS;
    }

    /** An element of a watcher's stream. */
    public sealed interface Seen {
        /** An event. */
        record Event(ServerEvent event) implements Seen {}

        /** The number of events that the watcher missed before the next one. */
        record Missed(long count) implements Seen {}
    }

    public static StoreException full() {
        return new StoreException.Busy(MAX_WATCHERS + " callers watch the events already, no more can");
    }

    /** Publishes that the server stops. Watchers still receive the remaining events. */
    public void stopping() {
        publish(new ServerEvent.Stopping(clock.instant()));
    }

    /** Ends all streams, once the published events are read. */
    public void end() {
        ended = true;
        watchers.forEach(EventQueue::end);
    }
}

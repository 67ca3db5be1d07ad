package dev.culvert.server.tunnel;

import dev.culvert.server.tunnel.ServerEvents.Seen;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * The queue of events that one watcher has not read yet. When full, it drops the oldest. Callable from any
 * thread.
 */
final class EventQueue {
    private final FluxSink<Seen> sink;
    private final int most;
    private final ArrayDeque<ServerEvent> waiting = new ArrayDeque<>();
    /** Counts calls of {@link #drain}. A call during another one leaves the work to that one. */
    private final AtomicInteger draining = new AtomicInteger();
    private long missed;
    private boolean ended;

    EventQueue(FluxSink<Seen> sink, int most) {
        this.sink = sink;
        this.most = most;
    }

    void offer(ServerEvent event) {
        synchronized (waiting) {
            if (ended) {
                return;
            }
            if (waiting.size() >= most) {
                waiting.remove();
                missed++;
            }
            waiting.add(event);
        }
        drain();
    }

    /** Accepts no more events. */
    void end() {
        synchronized (waiting) {
            ended = true;
        }
        drain();
    }

    /** Emits as many events as are requested. */
    void drain() {
        if (draining.getAndIncrement() != 0) {
            return;
        }
        int turns = 1;
        while (turns != 0) {
            while (sink.requestedFromDownstream() > 0) {
                Seen next = next();
                if (next == null) {
                    break;
                }
                sink.next(next);
            }
            if (isOver()) {
                sink.complete();
            }
            turns = draining.addAndGet(-turns);
        }
    }

    private @Nullable Seen next() {
        synchronized (waiting) {
            if (missed > 0) {
                var told = new Seen.Missed(missed);
                missed = 0;
                return told;
            }
            ServerEvent event = waiting.poll();
            return event == null ? null : new Seen.Event(event);
        }
    }

    private boolean isOver() {
        synchronized (waiting) {
            return ended && waiting.isEmpty();
        }
    }
}

package dev.culvert.server.tunnel;

import dev.culvert.server.tunnel.ServerEvents.Seen;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/** Events that one watcher has not read yet; the oldest make room for new ones. Callable from any thread. */
final class EventQueue {
    private final FluxSink<Seen> sink;
    private final int most;
    private final ArrayDeque<ServerEvent> waiting = new ArrayDeque<>();
    /** Who comes while somebody drains leaves the work to that one. */
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

    /** No more comes. */
    void end() {
        synchronized (waiting) {
            ended = true;
        }
        drain();
    }

    /** Hands over as much as is demanded. */
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

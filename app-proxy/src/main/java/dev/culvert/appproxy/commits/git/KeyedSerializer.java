package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One piece of work at a time for each key, in the order of arrival; what waits holds no thread. Safe for use by any
 * thread.
 */
public final class KeyedSerializer {
    /** A commit takes a fraction of a second. */
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(2);

    private final int maxWaiting;
    private final Map<String, Deque<Runnable>> lanes = new HashMap<>();

    /** @param maxWaiting how much waits for one key, beside what runs; the rest is refused */
    public KeyedSerializer(int maxWaiting) {
        this.maxWaiting = maxWaiting;
    }

    /**
     * Runs {@code work} once all work of the same key that came before is done. Cancelled while it waits, it never runs;
     * cancelled later, it runs to its end, which nobody hears of: half a commit is none. Errors: those of the work;
     * HandlerException OVERLOADED.
     */
    public <T> Mono<T> run(String key, Mono<T> work) {
        return Mono.create(sink -> {
            var turn = new Turn<>(key, work, sink);
            sink.onCancel(() -> leave(key, turn));
            if (!enter(key, turn)) {
                sink.error(HandlerException.of(Reason.OVERLOADED,
                        maxWaiting + " commits wait for this repository already")
                        .retryAfter(RETRY_WHEN_FULL));
            }
        });
    }

    /** Keys that somebody works on or waits for. */
    int busy() {
        synchronized (lanes) {
            return lanes.size();
        }
    }

    private boolean enter(String key, Runnable turn) {
        synchronized (lanes) {
            Deque<Runnable> waiting = lanes.get(key);
            if (waiting != null) {
                return waiting.size() < maxWaiting && waiting.add(turn);
            }
            lanes.put(key, new ArrayDeque<>());
        }
        turn.run();
        return true;
    }

    private void leave(String key, Runnable turn) {
        synchronized (lanes) {
            Deque<Runnable> waiting = lanes.get(key);
            if (waiting != null) {
                waiting.remove(turn);
            }
        }
    }

    private void next(String key) {
        Runnable turn;
        synchronized (lanes) {
            Deque<Runnable> waiting = lanes.getOrDefault(key, new ArrayDeque<>());
            turn = waiting.poll();
            if (turn == null) {
                lanes.remove(key);
                return;
            }
        }
        turn.run();
    }

    /** One piece of work in its lane. Equal to itself alone. */
    private final class Turn<T> implements Runnable {
        private final String key;
        private final Mono<T> work;
        private final MonoSink<T> sink;

        Turn(String key, Mono<T> work, MonoSink<T> sink) {
            this.key = key;
            this.work = work;
            this.sink = sink;
        }

        @Override
        public void run() {
            work.contextWrite(sink.contextView())
                    .doFinally(signal -> next(key))
                    .subscribe(sink::success, sink::error, sink::success);
        }
    }
}

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
 * Runs one piece of work at a time for each key, in order of arrival. Waiting work holds no thread. Callable
 * from any thread.
 */
public final class KeyedSerializer {
    /** The Retry-After when a queue is full. A commit takes a fraction of a second. */
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(2);

    private final int maxWaiting;
    private final Map<String, Deque<Runnable>> lanes = new HashMap<>();

    /**
     * @param maxWaiting the maximum number of waiting pieces of work for one key, besides the running one;
     *        more are refused
     */
    public KeyedSerializer(int maxWaiting) {
        this.maxWaiting = maxWaiting;
    }

    /**
     * Runs {@code work} once all earlier work of the same key is done. Work that is cancelled while it waits
     * never runs. Work that is cancelled later runs to its end and its result is dropped, because a commit
     * must not stop halfway. Errors: those of the work; HandlerException OVERLOADED.
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

    /** The number of keys with running or waiting work. */
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

    /** One piece of work in its lane. Equal only to itself. */
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

package dev.culvert.launcher.demo;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/** Stops the started components in reverse order. Safe for use by any thread. */
final class DemoClosers {
    private final Deque<Function<Duration, Mono<Void>>> closers = new ArrayDeque<>();

    /** Adds the closer of the component that was started last. */
    synchronized void add(Function<Duration, Mono<Void>> closer) {
        closers.push(closer);
    }

    void addServer(DisposableServer server) {
        add(grace -> Mono.fromRunnable(server::dispose).then(server.onDispose()));
    }

    /**
     * Stops all components once, the last one first. A failing closer does not prevent the others. Never
     * fails.
     */
    Mono<Void> close(Duration grace) {
        return Flux.defer(() -> Flux.fromIterable(taken()))
                .concatMap(closer -> closer.apply(grace).onErrorComplete())
                .then();
    }

    private synchronized List<Function<Duration, Mono<Void>>> taken() {
        var all = new ArrayList<>(closers);
        closers.clear();
        return all;
    }
}

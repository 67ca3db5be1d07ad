package dev.culvert.e2e;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/** Callers that get {@code /} again and again, each when it was answered. What is not {@code 200 hello} is a failure. */
final class Load {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final HttpClient caller;
    private final int callers;
    private final Queue<Long> millis = new ConcurrentLinkedQueue<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();

    Load(HttpClient caller, int callers) {
        this.caller = caller;
        this.callers = callers;
    }

    Disposable start() {
        return Flux.range(0, callers).flatMap(i -> once().repeat(), callers).subscribe();
    }

    private Mono<String> once() {
        return Mono.defer(() -> {
            long start = System.nanoTime();
            return caller.get()
                    .uri("/")
                    .responseSingle((head, body) -> body.asString()
                            .map(text -> head.status().code() + " " + text))
                    .onErrorResume(error -> Mono.just(String.valueOf(error)))
                    .doOnNext(answer -> {
                        if (answer.equals("200 hello")) {
                            millis.add(Duration.ofNanos(System.nanoTime() - start).toMillis());
                        } else {
                            failures.add(answer);
                        }
                    });
        });
    }

    void awaitMore(int requests) {
        int target = millis.size() + requests;
        await().pollInterval(Duration.ofMillis(5)).atMost(PATIENCE).until(() -> millis.size() >= target);
    }

    int served() {
        return millis.size();
    }

    Collection<String> failures() {
        return failures;
    }

    /** The duration in milliseconds that a share of the requests did not exceed. */
    long millisAt(double share) {
        long[] sorted = millis.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    }
}

package dev.culvert.launcher.demo;

import dev.culvert.config.Reason;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * One check of the demo.
 *
 * @param name the name of the check
 * @param proof sends the traffic and emits its observation; fails if that is not as expected
 */
public record DemoCheck(String name, Mono<String> proof) {
    /** The time-out of a check. A check transfers at most 64 MiB, so a longer one hangs. */
    private static final Duration TIMEOUT = Duration.ofSeconds(90);

    /** Runs the check. Never fails: a failure is a result. */
    public Mono<Result> run() {
        long began = System.nanoTime();
        return Mono.defer(() -> proof)
                .timeout(TIMEOUT)
                .map(seen -> new Result(name, true, seen, millisSince(began)))
                .switchIfEmpty(
                        Mono.fromCallable(() -> new Result(name, false, "no answer", millisSince(began))))
                .onErrorResume(
                        wrong -> Mono.just(new Result(name, false, reason(wrong), millisSince(began))));
    }

    private static String reason(Throwable wrong) {
        return wrong instanceof DemoException ? String.valueOf(wrong.getMessage()) : Reason.of(wrong);
    }

    private static long millisSince(long began) {
        return Duration.ofNanos(System.nanoTime() - began).toMillis();
    }

    /**
     * The result of a check.
     *
     * @param detail the observation or the error
     */
    public record Result(String name, boolean passed, String detail, long millis) {
        /** The result as one line for people. */
        public String line() {
            return String.format("%-4s  %-28s %6d ms  %s", passed ? "ok" : "FAIL", name, millis,
                    detail.replaceAll("\\s+", " "));
        }
    }
}

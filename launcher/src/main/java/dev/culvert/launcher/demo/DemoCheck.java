package dev.culvert.launcher.demo;

import dev.culvert.config.Reason;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * One check of the demo.
 *
 * @param name what is checked
 * @param proof sends the traffic and gives what it saw; errors when that is not what it should be
 */
public record DemoCheck(String name, Mono<String> proof) {
    /** A check moves 64 MiB at most: one that takes longer hangs. */
    private static final Duration TIMEOUT = Duration.ofSeconds(90);

    /** Runs it. Never errors: a failure is a result. */
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
     * What came out.
     *
     * @param detail what was seen, or what was wrong
     */
    public record Result(String name, boolean passed, String detail, long millis) {
        /** One line for people. */
        public String line() {
            return String.format("%-4s  %-28s %6d ms  %s", passed ? "ok" : "FAIL", name, millis,
                    detail.replaceAll("\\s+", " "));
        }
    }
}

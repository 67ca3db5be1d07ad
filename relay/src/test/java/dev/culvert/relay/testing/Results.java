package dev.culvert.relay.testing;

import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** Waits for results in tests. */
public final class Results {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private Results() {}

    /** The result of {@code mono}, which must not be empty. */
    public static <T> T await(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(PATIENCE), "an empty result");
    }
}

package dev.culvert.client.identity;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class EnrolmentRetryTest {
    private final AtomicInteger attempts = new AtomicInteger();

    /** Fails so once, then gives the number of attempts. */
    private Mono<Integer> attempt(EnrolmentException failure) {
        return Mono.fromCallable(attempts::incrementAndGet)
                .flatMap(number -> number == 1 ? Mono.<Integer>error(failure) : Mono.just(number))
                .retryWhen(new EnrolmentRetry(new Backoff(new SplittableRandom(1))));
    }

    @Test
    void overloadedServerIsNotAskedBeforeItWants() {
        var busy = new EnrolmentException.Failed("busy", null, Duration.ofSeconds(20));

        StepVerifier.withVirtualTime(() -> attempt(busy))
                .expectSubscription()
                .expectNoEvent(Duration.ofSeconds(20))
                .thenAwait(Duration.ofSeconds(1))
                .expectNext(2)
                .verifyComplete();
    }

    @Test
    void patienceEndsAfterAMinute() {
        var busy = new EnrolmentException.Failed("busy", null, Duration.ofDays(1));

        StepVerifier.withVirtualTime(() -> attempt(busy))
                .thenAwait(Duration.ofSeconds(61))
                .expectNext(2)
                .verifyComplete();
    }

    @Test
    void failureThatSaysNothingIsRepeatedSoon() {
        StepVerifier.withVirtualTime(() -> attempt(new EnrolmentException.Failed("no route", null)))
                .thenAwait(Duration.ofMillis(200))
                .expectNext(2)
                .verifyComplete();
    }

    @Test
    void refusalIsNotRepeated() {
        StepVerifier.withVirtualTime(() -> attempt(new EnrolmentException.Refused("used")))
                .verifyError(EnrolmentException.Refused.class);
    }
}

package dev.culvert.client.identity;

import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Retries the enrolment or renewal until it succeeds or is refused for good. Respects the wait that the
 * server requests.
 */
public final class EnrolmentRetry extends Retry {
    private static final Logger log = LoggerFactory.getLogger(EnrolmentRetry.class);

    private final Backoff backoff;

    public EnrolmentRetry(Backoff backoff) {
        this.backoff = backoff;
    }

    @Override
    public Publisher<?> generateCompanion(Flux<RetrySignal> failures) {
        return failures.map(RetrySignal::failure).concatMap(this::again);
    }

    private Mono<Long> again(Throwable failure) {
        if (!(failure instanceof EnrolmentException enrolment && enrolment.retryable())) {
            return Mono.error(failure);
        }
        log.atWarn().addKeyValue("reason", failure.getMessage()).log("not enrolled yet");
        return Mono.delay(backoff.afterEnrolment(failure));
    }
}

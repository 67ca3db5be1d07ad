package dev.culvert.appproxy.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class ChangeFeedTest {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final TestPublisher<Answers.Changes> changes = TestPublisher.create();
    private final AtomicInteger asked = new AtomicInteger();
    private final ChangeFeed feed = new ChangeFeed(new Slow(), Mono.empty(), () -> {}, null);

    @Test
    void stopLeavesTheLookUnderWay() {
        StepVerifier.create(feed.look())
                .then(() -> changes.assertWasSubscribed())
                .then(feed::stop)
                .expectComplete()
                .verify(TIME);

        changes.assertWasCancelled();
    }

    @Test
    void nothingIsAskedOnceItIsStopped() {
        feed.stop();

        StepVerifier.create(feed.look()).expectComplete().verify(TIME);

        assertThat(asked).hasValue(0);
    }

    /** The runtime's key was revoked, or its account deleted. */
    @Test
    void aRefusalDropsWhatIsRemembered() {
        var forgotten = new AtomicInteger();
        var failure = new AtomicReference<>(new ControlPlaneAway("no answer in time"));
        var refused = new ChangeFeed(new Slow() {
            @Override
            public Mono<Answers.Changes> changes(long since) {
                return Mono.error(failure.get());
            }
        }, Mono.empty(), forgotten::incrementAndGet, null);

        StepVerifier.create(refused.look()).expectComplete().verify(TIME);
        assertThat(forgotten).hasValue(0);

        failure.set(ControlPlaneAway.refused());
        StepVerifier.create(refused.look()).expectComplete().verify(TIME);
        assertThat(forgotten).hasValue(1);
    }

    /** Its answer takes as long as the test likes. */
    private class Slow implements AccessDirectory {
        @Override
        public Mono<Answers.Resolved> resolve(String token) {
            return Mono.never();
        }

        @Override
        public Mono<Answers.Decision> decide(String user, Operation operation) {
            return Mono.never();
        }

        @Override
        public Mono<Answers.Changes> changes(long since) {
            return Mono.defer(() -> {
                asked.incrementAndGet();
                return changes.mono();
            });
        }

        @Override
        public Mono<Boolean> reachableAt(URI url) {
            return Mono.never();
        }
    }
}

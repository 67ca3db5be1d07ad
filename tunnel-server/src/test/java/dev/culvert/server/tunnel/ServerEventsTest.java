package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.tunnel.ServerEvents.Seen;
import dev.culvert.store.StoreException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.StepVerifier;

class ServerEventsTest {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");

    private final MovableClock clock = new MovableClock();
    private final ServerEvents events = new ServerEvents(clock);

    private void happen(long generation) {
        events.publish(new ServerEvent.OfTunnel(Instant.EPOCH, ServerEvent.Kind.CONNECTED, PROD, null,
                generation, null, null));
    }

    private static long generation(Seen seen) {
        return ((ServerEvent.OfTunnel) ((Seen.Event) seen).event()).generation();
    }

    @Test
    void aWatcherSeesWhatHappensFromThenOnInOrder() {
        happen(1);

        StepVerifier.create(events.watch().map(ServerEventsTest::generation))
                .then(() -> happen(2))
                .then(() -> happen(3))
                .expectNext(2L, 3L)
                .then(events::end)
                .verifyComplete();
    }

    @Test
    void aSlowWatcherLosesTheOldestAndIsToldHowMany() {
        StepVerifier.create(events.watch(), 0)
                .then(() -> IntStream.rangeClosed(1, ServerEvents.MAX_QUEUED + 3).forEach(this::happen))
                .thenRequest(2)
                .expectNext(new Seen.Missed(3))
                .assertNext(first -> assertThat(generation(first)).isEqualTo(4))
                .thenCancel()
                .verify();
    }

    @Test
    void theEndComesBehindWhatWasNotReadYet() {
        StepVerifier.create(events.watch(), 0)
                .then(() -> happen(1))
                .then(events::stopping)
                .then(events::end)
                .then(() -> happen(2))
                .thenRequest(5)
                .expectNextCount(2)
                .verifyComplete();
    }

    @Test
    void oneWatcherTooManyIsRefusedUntilAnotherLeaves() {
        List<Disposable> watchers = new ArrayList<>();
        for (int i = 0; i < ServerEvents.MAX_WATCHERS; i++) {
            watchers.add(events.watch().subscribe());
        }

        assertThat(events.isFull()).isTrue();
        StepVerifier.create(events.watch()).verifyError(StoreException.Busy.class);

        watchers.getFirst().dispose();
        assertThat(events.isFull()).isFalse();
        StepVerifier.create(events.watch()).then(events::end).verifyComplete();
    }

    @Test
    void whoComesAfterTheEndSeesTheEnd() {
        events.end();

        StepVerifier.create(events.watch()).verifyComplete();
    }
}

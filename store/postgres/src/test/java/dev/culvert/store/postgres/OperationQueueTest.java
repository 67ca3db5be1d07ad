package dev.culvert.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.store.LockScope;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.OperationQueue.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who may begin, who waits and who is refused. */
class OperationQueueTest {
    private static final Duration NOW = Duration.ZERO;
    private static final LockScope ACME = LockScope.of("acme");

    private final OperationQueue queue = new OperationQueue(10, 100);

    @Test
    void changesOfOneNameRunOneAfterTheOther() throws InterruptedException {
        Place first = queue.enter(ACME);
        Place second = queue.enter(ACME);
        Place other = queue.enter(LockScope.of("other"));

        assertThat(first.await(NOW)).isTrue();
        assertThat(other.await(NOW)).isTrue();
        first.end();
        assertThat(second.await(NOW)).isTrue();
    }

    @Test
    void changesLeaveConnectionsToReads() throws InterruptedException {
        List<Place> changes = enter(8, LockScope.ROWS);

        assertThat(changes.get(6).await(NOW)).isTrue();
        Place last = changes.get(7);
        for (Place read : enter(3, null)) {
            assertThat(read.await(NOW)).isTrue();
        }
        changes.getFirst().end();
        assertThat(last.await(NOW)).isTrue();
    }

    @Test
    void oneOfTwoConnectionsIsForReads() throws InterruptedException {
        var small = new OperationQueue(2, 10);
        assertThat(small.enter(ACME).await(NOW)).isTrue();
        Place second = small.enter(LockScope.of("other"));

        assertThat(small.enter(null).await(NOW)).isTrue();
        assertThatThrownBy(() -> second.await(NOW)).isInstanceOf(StoreException.Busy.class);
    }

    @Test
    void theReadOfTheFeedIsTheNextHoweverManyWait() throws InterruptedException {
        List<Place> running = enter(10, null);
        List<Place> waiting = enter(75, null);
        assertThatThrownBy(() -> queue.enter(null)).isInstanceOf(StoreException.Busy.class);

        Place feed = queue.enterFirst();
        running.getFirst().end();

        assertThat(feed.await(NOW)).isTrue();
        assertThatThrownBy(() -> waiting.getFirst().await(NOW)).isInstanceOf(StoreException.Busy.class);
    }

    @Test
    void oneNameGetsAQuarterOfTheQueue() {
        enter(1 + 25, ACME);

        assertThatThrownBy(() -> queue.enter(ACME)).isInstanceOf(StoreException.Busy.class);
        queue.enter(LockScope.of("other"));
        queue.enter(LockScope.ALL);
        queue.enter(null);
    }

    @Test
    void changesLeaveAQuarterOfTheQueueToReadsAndReadsToChanges() {
        enter(7 + 75, LockScope.ROWS);
        assertThatThrownBy(() -> queue.enter(LockScope.ROWS)).isInstanceOf(StoreException.Busy.class);
        enter(3 + 25, null);
        assertThatThrownBy(() -> queue.enter(null)).isInstanceOf(StoreException.Busy.class);

        var reads = new OperationQueue(10, 100);
        for (int i = 0; i < 10 + 75; i++) {
            reads.enter(null);
        }
        assertThatThrownBy(() -> reads.enter(null)).isInstanceOf(StoreException.Busy.class);
        reads.enter(ACME);
    }

    @Test
    void whatIsCancelledGivesUpItsPlace() throws InterruptedException {
        List<Place> all = enter(1 + 25, ACME);
        Place cancelled = all.getLast();
        cancelled.cancel();
        cancelled.cancel();

        assertThat(cancelled.await(NOW)).isFalse();
        cancelled.end();
        queue.enter(ACME);
        assertThatThrownBy(() -> queue.enter(ACME)).isInstanceOf(StoreException.Busy.class);
        all.getFirst().cancel(); // it runs
        assertThatThrownBy(() -> all.get(1).await(NOW)).isInstanceOf(StoreException.Busy.class);
    }

    @Test
    void aWaitHasAnEnd() throws InterruptedException {
        Place first = queue.enter(ACME);
        Place second = queue.enter(ACME);
        Place third = queue.enter(ACME);

        assertThatThrownBy(() -> second.await(NOW)).isInstanceOf(StoreException.Busy.class);
        second.end();
        first.end();
        assertThat(third.await(NOW)).isTrue();
    }

    @Test
    void aChangeThatExcludesAllIsNotOvertaken() throws InterruptedException {
        Place named = queue.enter(ACME);
        Place all = queue.enter(LockScope.ALL);
        Place later = queue.enter(LockScope.of("other"));

        assertThat(queue.enter(LockScope.ROWS).await(NOW)).isTrue();
        assertThat(queue.enter(null).await(NOW)).isTrue();
        named.end();
        assertThat(all.await(NOW)).isTrue();
        all.end();
        assertThat(later.await(NOW)).isTrue();
    }

    @Test
    void aClosedQueueRefusesWhatWaits() throws InterruptedException {
        Place first = queue.enter(ACME);
        Place second = queue.enter(ACME);

        assertThat(queue.close(NOW)).isFalse();
        assertThatThrownBy(() -> second.await(NOW)).isInstanceOf(StoreException.Busy.class);
        assertThatThrownBy(() -> queue.enter(null)).isInstanceOf(StoreException.Busy.class);
        assertThat(first.await(NOW)).isTrue();
        first.end();
        assertThat(queue.close(NOW)).isTrue();
    }

    private List<Place> enter(int count, @Nullable LockScope scope) {
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            // Of names that exclude each other, one runs.
            places.add(queue.enter(scope));
        }
        return places;
    }
}

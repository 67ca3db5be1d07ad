package dev.culvert.inbox.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BulkThreadTest {
    private static final long QUICK = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(20);

    @Test
    void restsLongerWhileCommitsAreSlow() {
        long first = BulkThread.rest(0, SLOW);
        long second = BulkThread.rest(first, SLOW);

        assertThat(first).isPositive();
        assertThat(second).isEqualTo(2 * first);
    }

    @Test
    void noRestIsLongerThanTheBound() {
        long rest = 0;
        for (int i = 0; i < 100; i++) {
            rest = BulkThread.rest(rest, SLOW);
        }

        assertThat(rest).isEqualTo(BulkThread.LONGEST_REST);
    }

    @Test
    void restsNoMoreSoonAfterCommitsAreQuick() {
        long rest = BulkThread.LONGEST_REST;
        int pieces = 0;
        while (rest > 0) {
            rest = BulkThread.rest(rest, QUICK);
            pieces++;
        }

        assertThat(pieces).isLessThan(10);
    }

    @Test
    void doesNotRestWhereNothingIsCommitted() {
        assertThat(BulkThread.rest(0, 0)).isZero();
    }
}

package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long START = Long.MAX_VALUE - 5 * SECOND; // nanoTime may overflow at any moment

    private TokenBucket bucket = new TokenBucket(10, 3, START);

    private void bucket(int perSecond, int burst) {
        bucket = new TokenBucket(perSecond, burst, START);
    }

    @Test
    void aFullBucketGivesItsBurstAndThenOneAtATime() {
        assertThat(bucket.take(START)).isEqualTo(2);
        assertThat(bucket.take(START)).isEqualTo(1);
        assertThat(bucket.take(START)).isZero();
        assertThat(bucket.take(START)).isEqualTo(-SECOND / 10);
        assertThat(bucket.take(START + SECOND / 20)).isEqualTo(-SECOND / 20);
        assertThat(bucket.take(START + SECOND / 10)).isZero();
    }

    @Test
    void aRefusalCostsNothing() {
        bucket(1, 1);
        for (int i = 0; i < 100; i++) {
            bucket.take(START);
        }

        assertThat(bucket.take(START + SECOND)).isZero();
    }

    @Test
    void aPauseFillsItNoFurtherThanItsBurst() {
        bucket(5, 2);
        long later = START + 20 * SECOND;

        assertThat(bucket.take(later)).isEqualTo(1);
        assertThat(bucket.take(later)).isZero();
        assertThat(bucket.take(later)).isNegative();
        assertThat(bucket.nanosToFull(later)).isEqualTo(2 * SECOND / 5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 1000, 999_983, 1_000_000})
    void theRateIsKeptToATenthOfAPercent(int perSecond) {
        bucket(perSecond, perSecond);
        long taken = 0;
        long steps = 2000;
        for (long i = 1; i <= steps; i++) { // two seconds, in steps of a millisecond
            while (bucket.take(START + i * SECOND / 1000) >= 0) {
                taken++;
            }
        }

        assertThat(taken).isBetween(perSecond * 3L - perSecond / 1000 - 1, perSecond * 3L + perSecond / 1000);
    }

    @Test
    void threadsTogetherTakeNoMoreThanBurstAndRateAllow() throws InterruptedException {
        bucket(1000, 50);
        int threads = 4;
        var clock = new AtomicLong(START);
        var taken = new AtomicLong();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().start(() -> {
                for (int call = 0; call < 50_000; call++) {
                    long now = clock.addAndGet(10_000); // 200,000 calls: 2 s
                    if (bucket.take(now) >= 0) {
                        taken.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }

        long allowed = 50 + 1000 * (clock.get() - START) / SECOND;
        // A thread that is paused between reading the clock and taking may find the bucket moved on: it is refused.
        assertThat(taken.get()).isBetween(allowed / 2, allowed);
    }
}

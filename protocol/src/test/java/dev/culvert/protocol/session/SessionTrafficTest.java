package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.Hello.Limits;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No byte lost, reordered or doubled, nothing leaked, nothing stalled: thousands of random operations from fixed seeds. */
final class SessionTrafficTest {
    private static final int OPERATIONS = 2_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void everythingArrivesOverAFastLink(long seed) {
        try (SessionPair pair = SessionPair.live()) {
            assertThat(ran(pair, seed, 40_000)).isGreaterThan(80);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16})
    void everythingArrivesOverASlowLink(long seed) {
        try (SessionPair pair = SessionPair.live()
                .latency(Duration.ofMillis(new Random(seed).nextInt(200)))) {
            pair.server.out.bandwidth(1_000_000);
            pair.client.out.bandwidth(20_000_000);
            assertThat(ran(pair, seed, 40_000)).isGreaterThan(80);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23, 24, 25, 26, 27, 28})
    void everythingArrivesThroughSmallWindowsAndTables(long seed) {
        Random random = new Random(seed);
        try (SessionPair pair = SessionPair.live(small(random), small(random))
                .latency(Duration.ofMillis(1))) {
            pair.client.out.bandwidth(10_000_000);
            assertThat(ran(pair, seed, 4_000)).isGreaterThan(20);
        }
    }

    private static Limits small(Random random) {
        return new Limits(5 + random.nextInt(20), 8_000, 40, random.nextInt(3) * 100,
                1 << (10 + random.nextInt(4)),
                64 << 10);
    }

    private static int ran(SessionPair pair, long seed, int mostHeadBytes) {
        RandomTraffic traffic = new RandomTraffic(pair, seed, mostHeadBytes);
        traffic.run(OPERATIONS);
        traffic.finish();
        assertThat(pair.server.session.isLive() && pair.client.session.isLive()).isTrue();
        return traffic.verify();
    }
}

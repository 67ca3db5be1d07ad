package dev.culvert.benchmarks.micro;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each benchmark does what its name says, again and again. JMH itself does not run. */
class MicroTest {
    private static final int TIMES = 50;

    @ParameterizedTest
    @ValueSource(strings = {"slots", "hpack"})
    void bodiesCrossTheSessions(String heads) {
        var benchmark = new SessionBenchmark();
        benchmark.heads = heads;
        benchmark.open();

        for (int i = 0; i < TIMES; i++) {
            assertThat(benchmark.exchange()).isEqualTo(200);
            assertThat(benchmark.upload()).isEqualTo(64 << 10);
        }
        benchmark.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1000})
    void framesOfAllStreamsArrive(int streams) {
        var benchmark = new StreamOrderBenchmark();
        benchmark.streams = streams;
        benchmark.open();

        for (int i = 0; i < TIMES; i++) {
            assertThat(benchmark.frame()).isEqualTo(1000 << 10);
        }
        benchmark.close();
    }

    @Test
    void requestsAreRead() {
        var benchmark = new RequestHeadBenchmark();

        assertThat(benchmark.get()).isEqualTo(1);
        assertThat(benchmark.getByNetty()).isEqualTo(2);
        assertThat(benchmark.chunked()).isEqualTo(benchmark.chunkedByNetty());
        benchmark.close();
    }
}

package dev.culvert.relay.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProblemRingTest {
    private final ProblemRing ring = new ProblemRing();
    private long number;

    private void add(String runtime, String caller, String path) {
        ring.add(new KeptRequest(++number, FakeRequest.problem(runtime, caller, path)));
    }

    private List<String> paths(String runtime) {
        return ring.newestFirst()
                .stream()
                .map(KeptRequest::request)
                .filter(request -> request.runtime().equals(runtime))
                .map(request -> request.path().toString())
                .toList();
    }

    @Test
    void aFloodOfARuntimeReplacesItsOwnProblems() {
        for (int i = 0; i < 1000; i++) {
            add("small/" + i, "192.0.2.7", "/" + i);
        }
        for (int i = 0; i < 100_000; i++) {
            add("hostile/one", "192.0.2." + i % 250, "/flood/" + i);
        }

        for (int i = 0; i < 1000; i++) {
            assertThat(paths("small/" + i)).containsExactly("/" + i);
        }
        assertThat(paths("hostile/one")).hasSizeGreaterThan(100).startsWith("/flood/99999");
        assertThat(ring.bytes()).isLessThanOrEqualTo(ProblemRing.MAX_BYTES);
    }

    @Test
    void aFloodOfACallerReplacesItsOwnProblems() {
        for (int i = 0; i < 20; i++) {
            add("acme/prod", "192.0.2." + i, "/" + i);
        }
        for (int i = 0; i < 10_000; i++) {
            add("acme/prod", "2001:db8:0:1:0:0:0:" + Integer.toHexString(i), "/" + "x".repeat(2000));
        }

        assertThat(paths("acme/prod")).contains("/0", "/10", "/19");
        assertThat(ring.bytes()).isLessThanOrEqualTo(ProblemRing.MAX_RUNTIME_BYTES);
    }

    @Test
    void manyFloodsShareTheRing() {
        for (int i = 0; i < 20; i++) {
            for (int of = 0; of < 1000; of++) {
                add("acme/" + of, "192.0.2.7", "/" + "x".repeat(of % 500));
            }
        }

        assertThat(ring.bytes()).isBetween(ProblemRing.MAX_BYTES * 9L / 10, (long) ProblemRing.MAX_BYTES);
        assertThat(ring.newestFirst().stream().map(KeptRequest::number))
                .isSortedAccordingTo((one, other) -> Long.compare(other, one))
                .startsWith(number);
    }

    @Test
    void whenAllHaveAsMuchTheOldestGivesWay() {
        for (int i = 0; i < 5000; i++) {
            add("acme/" + i, "192.0.2.7", "/");
        }

        assertThat(ring.newestFirst().getFirst().number()).isEqualTo(5000);
        assertThat(ring.newestFirst().getLast().number()).isEqualTo(5001 - ring.newestFirst().size());
    }
}

package dev.culvert.relay.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestTrafficTest {
    private static final Problem REFUSED = Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "refused");
    private static final Problem LIMITED = Problem.of(Cause.RATE_LIMITED, Hop.EDGE, "too many");

    private Instant now = Instant.parse("2027-01-01T00:00:00Z");
    private final RequestTraffic traffic = new RequestTraffic(
            ((InstantSource) () -> now).withZone(ZoneOffset.UTC));

    private void count(String runtime, int times, int status, @Nullable Problem problem, Duration took) {
        for (int i = 0; i < times; i++) {
            traffic.count(runtime, status, problem, took.toNanos());
        }
    }

    @Test
    void sharesAndTimesAreThoseOfTheRequests() {
        count("acme/prod", 30, 200, null, Duration.ofMillis(10));
        count("acme/prod", 20, 502, REFUSED, Duration.ofMillis(3));
        count("acme/prod", 5, 500, null, Duration.ofSeconds(2));
        count("acme/prod", 5, 429, LIMITED, Duration.ofMillis(1));
        now = now.plusSeconds(20);

        TrafficSummary all = traffic.byRuntime(10).getFirst();

        assertThat(all.runtime()).isEqualTo("acme/prod");
        assertThat(all.requests()).isEqualTo(60);
        assertThat(all.perSecond()).isEqualTo(3);
        assertThat(List.of(all.clientErrors(), all.serverErrors(), all.problems(), all.failures()))
                .containsExactly(5L, 25L, 25L, 25L);
        assertThat(all.mostly()).isEqualTo(
                new TrafficSummary.Reason(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, 20));
        assertThat(all.p50()).isCloseTo(0.010, within(0.002));
        assertThat(all.p99()).isCloseTo(2.0, within(0.4));
    }

    @Test
    void answersOfServicesAndCutOnesAreFailuresToo() {
        count("acme/a", 12, 503, null, Duration.ofMillis(1));
        count("acme/b", 12, 200, Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost"), Duration.ofMillis(1));

        assertThat(traffic.byRuntime(1)).allSatisfy(each -> assertThat(each.failures()).isEqualTo(12));
        assertThat(traffic.byRuntime(1)).extracting(TrafficSummary::mostly)
                .containsExactlyInAnyOrder(
                        new TrafficSummary.Reason(null, Hop.UPSTREAM, 12),
                        new TrafficSummary.Reason(Cause.TUNNEL_LOST, Hop.TUNNEL, 12));
    }

    @Test
    void whatIsOldIsForgotten() {
        count("acme/prod", 10, 200, null, Duration.ofMillis(1));
        now = now.plus(RequestTraffic.SLOT.multipliedBy(10));
        count("acme/prod", 4, 200, null, Duration.ofMillis(1));

        assertThat(traffic.all(10).requests()).isEqualTo(4);
        assertThat(traffic.all(11).requests()).isEqualTo(14);
        assertThat(traffic.history()).hasSize(RequestTraffic.SLOTS - 1)
                .last()
                .matches(none -> none.requests() == 0);
        now = now.plus(RequestTraffic.SLOT.multipliedBy(RequestTraffic.SLOTS));
        assertThat(traffic.byRuntime(RequestTraffic.SLOTS)).isEmpty();
    }

    @Test
    void furtherRuntimesAreCountedTogetherUntilOneIsIdle() {
        for (int i = 0; i < RequestTraffic.MAX_RUNTIMES + 5; i++) {
            count("acme/" + i, 1, 200, null, Duration.ofMillis(1));
        }
        assertThat(traffic.byRuntime(1)).hasSize(RequestTraffic.MAX_RUNTIMES + 1)
                .last()
                .matches(others -> others.runtime().equals("others") && others.requests() == 5);

        now = now.plus(RequestTraffic.SLOT.multipliedBy(RequestTraffic.SLOTS + 1));
        count("acme/late", 3, 200, null, Duration.ofMillis(1));
        assertThat(traffic.byRuntime(1)).extracting(TrafficSummary::runtime).containsExactly("acme/late");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 1, 63_999, 64_000, Long.MAX_VALUE})
    void everyTimeHasAStep(long nanos) {
        traffic.count("acme/prod", 0, null, nanos);

        assertThat(traffic.all(1).p50()).isBetween(0.00006, 70.0);
    }

    @Test
    void aRequestCostsNoMemory() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var real = new RequestTraffic(Clock.systemUTC());
        for (int i = 0; i < 20_000; i++) {
            real.count("acme/prod", 502, REFUSED, i * 1000L);
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10_000; i++) {
            real.count("acme/prod", 502, REFUSED, i * 1000L);
        }

        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
    }
}

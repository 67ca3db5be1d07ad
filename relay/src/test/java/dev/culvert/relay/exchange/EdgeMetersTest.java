package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.RuntimeUsage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EdgeMetersTest {
    private final Telemetry telemetry = new Telemetry();
    private final EdgeMeters meters = new EdgeMeters(telemetry);

    @AfterEach
    void close() {
        telemetry.close();
    }

    @Test
    void aRuntimesUsageIsShownAndForgottenWithIt() {
        var usage = new RuntimeUsage();
        meters.usage("acme/prod", usage);
        meters.usage("acme/prod", usage);
        usage.in(5);
        usage.out(7);
        usage.refused(RuntimeUsage.Refusal.RATE);

        assertThat(telemetry.scrape()).contains(
                "culvert_runtime_bytes_total{direction=\"in\",runtime=\"acme/prod\"} 5.0",
                "culvert_runtime_bytes_total{direction=\"out\",runtime=\"acme/prod\"} 7.0",
                "culvert_runtime_refused_total{limit=\"rate\",runtime=\"acme/prod\"} 1.0");
        meters.forget("acme/prod");
        assertThat(telemetry.scrape()).doesNotContain("acme/prod");
        meters.usage("acme/prod", new RuntimeUsage());
        assertThat(telemetry.scrape())
                .contains("culvert_runtime_bytes_total{direction=\"in\",runtime=\"acme/prod\"} 0.0");
    }

    @Test
    void anEndedRequestIsCountedByRuntimeStatusClassAndHop() {
        meters.begin();
        meters.end("acme/prod", 502, Hop.ROUTER, 2_000_000);

        assertThat(telemetry.registry()
                .get("culvert.edge.requests")
                .tags("runtime", "acme/prod", "status_class", "5xx", "hop", "router")
                .timer()
                .count()).isEqualTo(1);
        assertThat(telemetry.registry().get("culvert.edge.active.requests").gauge().value()).isZero();
    }

    @Test
    void aRequestWithoutAnswerHasStatusClassNone() {
        meters.begin();
        meters.end("acme/prod", 0, Hop.EDGE, 1);

        assertThat(telemetry.registry()
                .get("culvert.edge.requests")
                .tags("status_class", "none")
                .timer()
                .count())
                .isEqualTo(1);
    }

    @Test
    void aDeletedRuntimesLabelEnds() {
        for (String runtime : new String[]{"acme/prod", "acme/test"}) {
            meters.begin();
            meters.end(runtime, 200, Hop.UPSTREAM, 1);
        }

        meters.forget("acme/prod");

        assertThat(telemetry.registry().find("culvert.edge.requests").timers()).singleElement()
                .satisfies(timer -> assertThat(timer.getId().getTag("runtime")).isEqualTo("acme/test"));
    }
}

package dev.culvert.relay.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.observe.Telemetry;
import org.junit.jupiter.api.Test;

class UpstreamFiguresTest {
    private final UpstreamFigures figures = new UpstreamFigures();

    @Test
    void routesBeyondTheBoundShareTheirFigures() {
        for (int i = 0; i < UpstreamFigures.MAX_ROUTES; i++) {
            figures.of("/" + i + "/").answered();
        }
        figures.of("/one-more/").answered();
        figures.of("/another/").answered();
        figures.of("/7/").answered();

        try (var telemetry = new Telemetry()) {
            figures.shown(telemetry);
            assertThat(telemetry.scrape()
                    .lines()
                    .filter(line -> line.startsWith("culvert_upstream_requests_total{")))
                    .hasSize(UpstreamFigures.MAX_ROUTES + 1)
                    .contains("culvert_upstream_requests_total{outcome=\"answered\",route=\"others\"} 2.0",
                            "culvert_upstream_requests_total{outcome=\"answered\",route=\"/7/\"} 2.0");
        }
    }
}

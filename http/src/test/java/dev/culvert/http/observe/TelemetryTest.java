package dev.culvert.http.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import io.micrometer.core.instrument.Counter;
import java.util.List;
import org.junit.jupiter.api.Test;

class TelemetryTest {
    private static final TunnelFigures NONE = new TunnelFigures() {
        @Override
        public int connected() {
            return 0;
        }

        @Override
        public int waiting() {
            return 0;
        }

        @Override
        public long promotions() {
            return 0;
        }

        @Override
        public long unansweredPromotions() {
            return 0;
        }

        @Override
        public long streams() {
            return 0;
        }

        @Override
        public long bufferedBytes() {
            return 0;
        }

        @Override
        public long receivedBytes() {
            return 0;
        }

        @Override
        public long sentBytes() {
            return 7;
        }

        @Override
        public long refusedMemory() {
            return 3;
        }

        @Override
        public double rttSeconds() {
            return 0;
        }
    };

    @Test
    void everyMeterOfTheGatewaysOwnSaysWhatItIs() {
        try (var telemetry = new Telemetry()) {
            telemetry.tunnels(NONE);
            telemetry.problem(Problem.of(Problem.Cause.NO_ROUTE, Problem.Hop.ROUTER, "no route"));
            Counter.builder("culvert.tunnel.reconnects").register(telemetry.registry());

            List<String> helps = telemetry.scrape()
                    .lines()
                    .filter(line -> line.startsWith("# HELP culvert_"))
                    .toList();

            assertThat(helps).hasSize(10).allMatch(line -> line.matches("# HELP \\w+ [A-Z].+"));
            assertThat(telemetry.scrape()).contains("culvert_tunnel_bytes_total{direction=\"out\"} 7",
                    "culvert_memory_refused_total{connection=\"tunnel\"} 3",
                    "culvert_memory_refused_total{connection=\"caller\"} ",
                    "culvert_memory_refused_total{connection=\"upstream\"} ");
        }
    }
}

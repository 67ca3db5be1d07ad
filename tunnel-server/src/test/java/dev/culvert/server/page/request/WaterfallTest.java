package dev.culvert.server.page.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.observe.RequestRecord;
import org.junit.jupiter.api.Test;

class WaterfallTest {
    private static Waterfall of(String hop, long total, long... micros) {
        return Waterfall
                .of(RequestTexts.of("GET", "a.example", "/", hop.isEmpty() ? null : hop, micros, total));
    }

    @Test
    void hopsFollowOneAnotherAndTheRestIsTheResponse() {
        Waterfall waterfall = of("", 10_000, 1000, 2000, 500, 500, 100, 4900);

        assertThat(waterfall.total()).isEqualTo("10 ms");
        assertThat(waterfall.bars()).extracting(bar -> bar.hop() + " " + bar.x() + "+" + bar.width())
                .containsExactly("Queue 0.00%+10.00%", "Request body 10.00%+20.00%",
                        "of it waiting 10.00%+5.00%", "Tunnel 30.00%+5.00%", "Router 35.00%+1.00%",
                        "Upstream 36.00%+49.00%", "Response 85.00%+15.00%");
        assertThat(waterfall.longest()).isNotNull()
                .satisfies(bar -> assertThat(bar.hop() + bar.percent()).isEqualTo("Upstream49 %"));
    }

    @Test
    void aHopWithoutTimeIsLeftOutUnlessItFailed() {
        assertThat(of("", 100, 100, 0, 0, 0, 0, 0).bars()).extracting(Waterfall.Bar::hop)
                .containsExactly("Queue");
        assertThat(of("router", 100, 100, 0, 0, 0, 0, 0).bars()).extracting(Waterfall.Bar::hop)
                .containsExactly("Queue", "Router");
        assertThat(of("router", 100, 100, 0, 0, 0, 0, 0).bars().getLast().tone()).isEqualTo("bad");
    }

    @Test
    void aRefusalIsNoLongResponse() {
        RequestRecord refused = RequestTexts.of("GET", "a.example", "/", "edge", new long[6], 36);

        assertThat(new RequestLine(refused).mostly()).isEmpty();
        assertThat(Waterfall.of(refused).bars()).extracting(Waterfall.Bar::hop)
                .containsExactly("Queue",
                        "Refusal");
        assertThat(RequestDetail.of(refused, ProblemGuide.load()).verdict())
                .isEqualTo("The gateway answered in place of the service, after 36 µs.");
    }

    @Test
    void barsStayWithinThePicture() {
        for (long[] micros : new long[][]{{0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 1_000_000},
                {5_000_000, 5_000_000, 9_000_000, 5_000_000, 5_000_000, 5_000_000}}) {
            for (Waterfall.Bar bar : of("upstream", 1_000_000, micros).bars()) {
                double x = Double.parseDouble(bar.x().replace("%", ""));
                double width = Double.parseDouble(bar.width().replace("%", ""));
                assertThat(x).isBetween(0.0, 100.0);
                assertThat(width).isBetween(0.4, 100.0);
                assertThat(x + width).isLessThanOrEqualTo(100.01);
            }
        }
        assertThat(of("", 0, 0, 0, 0, 0, 0, 0).longest()).isNotNull();
    }
}

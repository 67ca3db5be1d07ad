package dev.culvert.http.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReadinessTest {
    @Test
    void whatDoesNotWorkIsNamedWhileTheRestDoes() {
        Readiness now = Readiness.degraded(List.of("git: down"))
                .but("webhooks are refused: the disk is full");

        assertThat(now.ready()).isTrue();
        assertThat(now.text()).isEqualTo("degraded\ngit: down\nwebhooks are refused: the disk is full");
        assertThat(Readiness.READY.but(null).text()).isEqualTo("ok");
    }

    @Test
    void whatIsNotReadySaysThatAlone() {
        assertThat(Readiness.notReady("draining").but("webhooks are refused: the disk is full").text())
                .isEqualTo("draining");
    }
}

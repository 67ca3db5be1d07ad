package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DialPaceTest {
    private final DialPace pace = new DialPace();
    private long now = Long.MAX_VALUE - 1; // such clocks wrap

    @BeforeEach
    void begin() {
        pace.begin(now);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private boolean mayDial(int index) {
        return pace.ask(index, now).isZero();
    }

    private void live() {
        pace.live(now);
    }

    private void lost() {
        pace.lost(now);
    }

    /** Connections 0 and 1 are live since long. */
    private void bothLive() {
        mayDial(0);
        live();
        pass(Duration.ofSeconds(1));
        mayDial(1);
        live();
        pass(Duration.ofHours(1));
    }

    @Test
    void othersWaitUntilTheFirstIsLiveForASecond() {
        assertThat(mayDial(0)).isTrue();
        pass(Duration.ofSeconds(5));
        assertThat(mayDial(1)).isFalse();

        live();
        assertThat(pace.ask(1, now)).hasSeconds(1);
        pass(Duration.ofSeconds(1));

        assertThat(mayDial(1)).isTrue();
        assertThat(mayDial(2)).as("a second after that").isFalse();
        pass(Duration.ofSeconds(1));
        assertThat(mayDial(2)).isTrue();
    }

    @Test
    void ofAWhollyLostTunnelOneConnectionDialsAtOnceAndTheOthersWaitForIt() {
        bothLive();
        lost();
        lost();

        assertThat(mayDial(1)).isTrue();
        assertThat(mayDial(0)).isFalse();
        pass(Duration.ofMillis(300));
        assertThat(mayDial(1)).as("its own back-off alone").isTrue();
        pass(Duration.ofSeconds(20));
        assertThat(mayDial(0)).isFalse();
        live();
        pass(Duration.ofSeconds(1));
        assertThat(mayDial(0)).isTrue();
    }

    @Test
    void aLostOrOldConnectionBesideALiveOneIsReplacedAtOnce() {
        bothLive();
        assertThat(mayDial(0)).as("make before break").isTrue();
        pass(Duration.ofSeconds(1));

        lost();

        assertThat(mayDial(1)).isTrue();
    }

    @Test
    void aLeaderThatFailsForLongIsWaitedForNoMore() {
        assertThat(mayDial(0)).isTrue();
        pass(DialPace.STUCK.minusNanos(1));
        assertThat(mayDial(1)).isFalse();
        pass(Duration.ofNanos(1));

        assertThat(mayDial(1)).isTrue();
        assertThat(mayDial(0)).as("a second after that").isFalse();
    }

    @Test
    void afterAPauseOneConnectionDialsFirst() {
        bothLive();
        lost();
        lost();
        pass(Duration.ofHours(1));

        pace.begin(now);

        assertThat(mayDial(0)).isTrue();
        assertThat(mayDial(1)).isFalse();
    }
}

package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OpeningsTest {
    private final Openings openings = new Openings(2, 1, new SplittableRandom(1));

    @Test
    void oneTooManyFindsNoPlace() {
        assertThat(openings.begin(new EmbeddedChannel(), true)).isTrue();
        assertThat(openings.begin(new EmbeddedChannel(), true)).isTrue();

        assertThat(openings.begin(new EmbeddedChannel(), true)).isFalse();
        assertThat(openings.count()).isEqualTo(2);
    }

    @Test
    void strangersDoNotUseUpThePlacesOfTheKnown() {
        assertThat(openings.begin(new EmbeddedChannel(), false)).isTrue();
        assertThat(openings.begin(new EmbeddedChannel(), false)).isFalse();

        assertThat(openings.begin(new EmbeddedChannel(), true)).isTrue();
    }

    @Test
    void aPlaceIsFreeOnceWhetherTheSessionBeginsOrItsConnectionEnds() {
        var begun = new EmbeddedChannel();
        var broken = new EmbeddedChannel();
        openings.begin(begun, true);
        openings.begin(broken, true);

        Openings.opened(begun);
        begun.close();
        broken.close();

        assertThat(openings.count()).isZero();
    }

    @Test
    void theWaitIsSpreadOverOneToTenWholeSeconds() {
        assertThat(Stream.generate(openings::retryAfter).limit(1000).map(wait -> wait.toMillis()).distinct())
                .containsExactlyInAnyOrder(1000L, 2000L, 3000L, 4000L, 5000L, 6000L, 7000L, 8000L, 9000L,
                        10_000L);
    }
}

package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.server.Openings.Opener;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OpeningsTest {
    private final Openings openings = new Openings(2, 3, 2, new SplittableRandom(1));

    @Test
    void oneTooManyFindsNoPlace() {
        assertThat(openings.begin(new EmbeddedChannel(), Opener.PROVEN)).isTrue();
        assertThat(openings.begin(new EmbeddedChannel(), Opener.PROVEN)).isTrue();

        assertThat(openings.begin(new EmbeddedChannel(), Opener.PROVEN)).isFalse();
        assertThat(openings.count()).isEqualTo(2);
    }

    @Test
    void strangersDoNotUseUpThePlacesOfTheKnown() {
        for (int i = 1; i <= 3; i++) {
            assertThat(openings.begin(from(i), Opener.STRANGER)).isTrue();
        }
        assertThat(openings.begin(from(4), Opener.STRANGER)).isFalse();

        assertThat(openings.begin(new EmbeddedChannel(), Opener.PROVEN)).isTrue();
    }

    @Test
    void aPlaceIsFreeOnceWhetherTheSessionBeginsOrItsConnectionEnds() {
        var begun = new EmbeddedChannel();
        var broken = new EmbeddedChannel();
        openings.begin(begun, Opener.PROVEN);
        openings.begin(broken, Opener.PROVEN);

        Openings.opened(begun);
        begun.close();
        broken.close();

        assertThat(openings.count()).isZero();
    }

    @Test
    void oneAddressDoesNotUseUpThePlacesOfAllStrangers() {
        var first = from(1);
        openings.begin(first, Opener.STRANGER);
        openings.begin(from(1), Opener.STRANGER);

        assertThat(openings.begin(from(1), Opener.STRANGER)).isFalse();
        assertThat(openings.begin(from(2), Opener.STRANGER)).isTrue();
        first.close();
        assertThat(openings.begin(from(1), Opener.STRANGER)).isTrue();
    }

    @Test
    void theClientsOfABalancerShareTheBoundOfAll() {
        for (int i = 0; i < 3; i++) {
            assertThat(openings.begin(from(1), Opener.BALANCED)).isTrue();
        }

        assertThat(openings.begin(from(1), Opener.BALANCED)).isFalse();
    }

    @Test
    void addressesWithoutAPlaceAreForgotten() {
        for (int i = 1; i <= 100; i++) {
            var channel = from(i);
            openings.begin(channel, Opener.STRANGER);
            channel.close();
        }

        assertThat(openings.addresses()).isZero();
        assertThat(openings.count()).isZero();
    }

    private static EmbeddedChannel from(int host) {
        return new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress("192.0.2." + host, 4711);
            }
        };
    }

    @Test
    void theWaitIsSpreadOverOneToTenWholeSeconds() {
        assertThat(Stream.generate(openings::retryAfter).limit(1000).map(wait -> wait.toMillis()).distinct())
                .containsExactlyInAnyOrder(1000L, 2000L, 3000L, 4000L, 5000L, 6000L, 7000L, 8000L, 9000L,
                        10_000L);
    }
}

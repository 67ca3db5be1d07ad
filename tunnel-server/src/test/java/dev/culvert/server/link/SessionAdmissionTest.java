package dev.culvert.server.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SessionAdmissionTest {
    private static final String PROD = "prod";
    private static final String TEST = "test";
    private static final String BALANCER = "192.0.2.1";

    private final SessionAdmission admission = new SessionAdmission(3, 4, 2, new SplittableRandom(1));
    private final List<EmbeddedChannel> begun = new ArrayList<>();

    /** Begins to open a session; {@code runtimeId} is null where a proof is promised. */
    private boolean begin(String address, @Nullable String runtimeId) {
        EmbeddedChannel channel = from(address);
        boolean admitted = admission.begin(channel, runtimeId);
        if (admitted) {
            begun.add(channel);
        }
        return admitted;
    }

    private static boolean isOpen(EmbeddedChannel channel) {
        channel.runPendingTasks();
        return channel.isOpen();
    }

    private static EmbeddedChannel from(String address) {
        return new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 4711);
            }
        };
    }

    /** Ten times the rate that kept 36 of 40 out, behind a listener whose callers all have the balancer's address. */
    @Test
    void silentOpenersKeepNoHonestClientOut() {
        var usual = new SessionAdmission(SessionAdmission.MAX_PROVEN, SessionAdmission.MAX_SILENT,
                SessionAdmission.MAX_JUDGED,
                new SplittableRandom(1));
        for (int i = 0; i < 260 * 5; i++) { // each for 5 s
            usual.begin(from(BALANCER), null);
        }

        for (int i = 0; i < 40; i++) {
            EmbeddedChannel honest = from(BALANCER);
            assertThat(usual.begin(honest, null)).isTrue();
            assertThat(SessionAdmission.judge(honest)).isTrue();
        }
    }

    @Test
    void aSilentSourceGivesWayToAnother() {
        for (int i = 0; i < 4; i++) {
            assertThat(begin(BALANCER, null)).isTrue();
        }
        assertThat(begin(BALANCER, null)).isFalse();

        assertThat(begin("192.0.2.2", null)).isTrue();

        assertThat(begun).extracting(SessionAdmissionTest::isOpen)
                .containsExactly(true, true, true, false, true);
        assertThat(admission.count()).isEqualTo(4);
    }

    @Test
    void theAddressesOfAPrefixAreOneSource() {
        for (int i = 1; i <= 4; i++) {
            assertThat(begin("2001:db8:0:1::" + i, null)).isTrue();
        }

        assertThat(begin("2001:db8:0:1:ffff::", null)).isFalse();
        assertThat(begin("2001:db8:0:2::1", null)).isTrue();
    }

    @Test
    void onlyProofsTakeThePlacesOfProofs() {
        for (int i = 0; i < 3; i++) {
            begin(BALANCER, null);
        }
        assertThat(SessionAdmission.judge(begun.get(0))).isTrue();
        assertThat(SessionAdmission.judge(begun.get(1))).isTrue();
        assertThat(SessionAdmission.judge(begun.get(2))).isFalse();

        begin("192.0.2.2", null);
        assertThat(SessionAdmission.judge(begun.get(3))).isTrue();
        assertThat(begun).extracting(SessionAdmissionTest::isOpen).containsExactly(true, false, true, true);
    }

    @Test
    void strangersDoNotUseUpThePlacesOfTheKnown() {
        for (int i = 1; i <= 4; i++) {
            begin("192.0.2." + i, null);
        }

        assertThat(begin("192.0.2.5", null)).isFalse();
        assertThat(begin("192.0.2.5", PROD)).isTrue();
    }

    @Test
    void oneRuntimeDoesNotUseUpThePlacesOfAnother() {
        for (int i = 0; i < 3; i++) {
            assertThat(begin(BALANCER, PROD)).isTrue();
        }
        assertThat(begin(BALANCER, PROD)).isFalse();

        assertThat(begin(BALANCER, TEST)).isTrue();

        assertThat(begun).extracting(SessionAdmissionTest::isOpen).containsExactly(true, true, false, true);
    }

    @Test
    void aPlaceIsFreeOnceWhetherTheSessionBeginsOrItsConnectionEnds() {
        begin(BALANCER, PROD);
        begin(BALANCER, null);
        begin(BALANCER, null);
        SessionAdmission.judge(begun.get(2));
        assertThat(admission.count()).isEqualTo(3);

        SessionAdmission.opened(begun.getFirst());
        begun.forEach(EmbeddedChannel::close);

        assertThat(admission.count()).isZero();
    }

    @Test
    void theWaitIsSpreadOverOneToTenWholeSeconds() {
        assertThat(Stream.generate(admission::retryAfter).limit(1000).map(wait -> wait.toMillis()).distinct())
                .containsExactlyInAnyOrder(1000L, 2000L, 3000L, 4000L, 5000L, 6000L, 7000L, 8000L, 9000L,
                        10_000L);
    }
}

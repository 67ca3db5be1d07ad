package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HandshakeGateTest {
    private static final SourceAddress NOISY = source(0);
    private static final SourceAddress QUIET = source(1);
    /** 64 quiet sources have a KiB each of these. */
    private static final long HELLO_BYTES = 64 << 10;
    private static final long HELLO = 1 << 10;

    private final EmbeddedChannel server = new EmbeddedChannel();
    private final HandshakeGate gate = new HandshakeGate(2, 4, 5, HELLO_BYTES);
    private final List<EmbeddedChannel> open = new ArrayList<>();

    private static SourceAddress source(int i) {
        return SourceAddress.of(address("192.0.2." + i));
    }

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private boolean admit(SourceAddress source) {
        EmbeddedChannel channel = new EmbeddedChannel();
        boolean admitted = gate.admit(source, channel);
        if (admitted) {
            open.add(channel);
        }
        return admitted;
    }

    private boolean accepts() {
        return server.config().isAutoRead();
    }

    @Test
    void anAddressHasItsBoundOfConnections() {
        for (int i = 0; i < 4; i++) {
            assertThat(admit(NOISY)).isTrue();
        }
        assertThat(admit(NOISY)).isFalse();
        assertThat(admit(NOISY)).isFalse();

        open.getFirst().close();
        assertThat(admit(NOISY)).isTrue();
        assertThat(admit(NOISY)).isFalse();
    }

    @Test
    void theAddressesOfAPrefixShareItsBound() {
        for (int i = 1; i <= 4; i++) {
            assertThat(admit(SourceAddress.of(address("2001:db8:0:1::" + i)))).isTrue();
        }

        assertThat(admit(SourceAddress.of(address("2001:db8:0:1:8000::")))).isFalse();
        assertThat(admit(SourceAddress.of(address("2001:db8:0:2::1")))).isTrue();
    }

    @Test
    void aSourceWithoutConnectionsIsForgotten() {
        admit(NOISY);
        assertThat(gate.sources()).isOne();

        open.getFirst().close();
        assertThat(gate.sources()).isZero();
    }

    private List<Boolean> whichAreOpen() {
        open.forEach(EmbeddedChannel::runPendingTasks);
        return open.stream().map(EmbeddedChannel::isOpen).toList();
    }

    @Test
    void aFullListenerClosesTheOldestSilentOneOfTheNoisiest() {
        admit(QUIET);
        for (int i = 0; i < 4; i++) {
            admit(NOISY);
        }

        assertThat(admit(source(2))).isTrue();
        assertThat(whichAreOpen()).containsExactly(true, false, true, true, true, true);
        assertThat(admit(NOISY)).isTrue();
        assertThat(whichAreOpen()).containsExactly(true, false, false, true, true, true, true);
    }

    @Test
    void amongSilentOnesOfManySourcesTheOldestGivesWay() {
        for (int i = 0; i < 5; i++) {
            admit(source(i));
        }
        ConnectionPlace.of(open.get(0)).busy(); // a session that is proven, or a request
        ConnectionPlace.of(open.get(1)).busy();
        ConnectionPlace.of(open.get(1)).silent(); // it has served one

        for (int i = 5; i < 9; i++) {
            assertThat(admit(source(i))).isTrue();
        }

        assertThat(whichAreOpen()).containsExactly(true, true, false, false, false, false, true, true, true);
    }

    @Test
    void whoHasSentNothingGivesWayFirstHoweverManyAnotherHas() {
        for (int i = 0; i < 3; i++) {
            admit(NOISY);
            ConnectionPlace.of(open.get(i)).greeted();
        }
        admit(QUIET);
        admit(source(2));

        for (int i = 3; i < 6; i++) {
            assertThat(admit(source(i))).isTrue();
        }

        assertThat(whichAreOpen()).containsExactly(true, true, true, false, false, false, true, true);
    }

    @Test
    void silentStrangersDoNotCloseTheNewConnectionsOfAKnownSource() {
        admit(QUIET);
        ConnectionPlace.of(open.getFirst()).served(); // an answer
        open.getFirst().close();
        for (int i = 0; i < 3; i++) {
            admit(QUIET);
        }
        for (int i = 2; i < 10; i++) {
            assertThat(admit(source(i))).isTrue();
            ConnectionPlace.of(open.getLast()).greeted();
        }

        assertThat(whichAreOpen()).containsExactly(false, true, true, true, false, false, false, false, false,
                false,
                true, true);
    }

    @Test
    void ofAKnownSourceEightConnectionsStay() {
        var large = new HandshakeGate(2, 100, 16, HELLO_BYTES);
        for (int i = 0; i < 20; i++) {
            EmbeddedChannel channel = new EmbeddedChannel();
            assertThat(large.admit(QUIET, channel)).isTrue();
            open.add(channel);
            if (i == 0) {
                ConnectionPlace.of(channel).served();
                channel.close();
            }
        }

        for (int i = 2; i < 30; i++) {
            assertThat(large.admit(source(i), new EmbeddedChannel())).isTrue();
        }
        assertThat(whichAreOpen().stream().filter(each -> each)).hasSize(8);
    }

    @Test
    void aConnectionThatSendsAClientHelloBeforeItIsClosedStays() {
        for (int i = 0; i < 6; i++) {
            admit(source(i));
        }
        ConnectionPlace.of(open.getFirst()).greeted();
        assertThat(whichAreOpen()).containsExactly(true, true, true, true, true, true);

        admit(source(6));
        assertThat(whichAreOpen()).as("the bound holds again").filteredOn(each -> each).hasSize(5);
    }

    @Test
    void aRefusedRequestMakesNoSourceKnown() {
        admit(QUIET);
        ConnectionPlace.of(open.getFirst()).busy();
        open.getFirst().close();
        for (int i = 0; i < 3; i++) {
            admit(QUIET);
        }
        for (int i = 2; i < 10; i++) {
            admit(source(i));
        }

        assertThat(whichAreOpen().subList(0, 4)).containsOnly(false);
    }

    @Test
    void aConnectionThatBecomesBusyBeforeItIsClosedStays() {
        for (int i = 0; i < 5; i++) {
            admit(source(i));
        }
        admit(source(5));
        ConnectionPlace.of(open.get(0)).busy();

        assertThat(whichAreOpen()).containsExactly(true, true, true, true, true, true);
        assertThat(gate.sources()).isEqualTo(6);
    }

    @Test
    void newcomersHavePlacesOfTheirOwnWhenAllAreBusy() {
        var large = new HandshakeGate(2, 100, 16, HELLO_BYTES);
        for (int i = 0; i < 16; i++) {
            EmbeddedChannel channel = new EmbeddedChannel();
            assertThat(large.admit(source(i), channel)).isTrue();
            ConnectionPlace.of(channel).busy();
        }

        assertThat(large.admit(source(16), new EmbeddedChannel())).isTrue();
        assertThat(large.admit(source(17), new EmbeddedChannel())).isTrue();
        assertThat(large.admit(source(18), new EmbeddedChannel())).isTrue(); // in place of a silent one
        assertThat(large.sources()).isEqualTo(18);
    }

    @Test
    void aPrefixOf48CountsWhereItsPrefixesOf64AreAlike() {
        SourceAddress neighbour = SourceAddress.of(address("2001:db8:7::1"));
        admit(neighbour);
        for (int i = 0; i < 4; i++) {
            admit(SourceAddress.of(address("2001:db8:8:" + i + "00::1")));
        }

        for (int i = 4; i < 7; i++) {
            assertThat(admit(SourceAddress.of(address("2001:db8:8:" + i + "00::1")))).isTrue();
        }

        assertThat(whichAreOpen().getFirst()).isTrue();
    }

    @Test
    void oneSourceNeverStopsAccept() {
        int refused = 0;
        for (int i = 0; i < 1000; i++) {
            Quota<SourceAddress>.Claim hello = gate.hello(NOISY, new EmbeddedChannel());
            if (!gate.keep(hello, HELLO, server)) {
                refused++;
                gate.drop(hello);
            }
        }

        assertThat(gate.helloBytes()).isEqualTo(HELLO_BYTES);
        assertThat(refused).isEqualTo(1000 - HELLO_BYTES / HELLO);
        assertThat(accepts()).isTrue();
        assertThat(gate.keep(gate.hello(QUIET, new EmbeddedChannel()), HELLO, server)).isTrue();
        assertThat(gate.helloBytes()).isEqualTo(HELLO_BYTES);
        assertThat(accepts()).isTrue();
    }

    @Test
    void whenManyQuietSourcesStormAcceptWaits() {
        List<Quota<SourceAddress>.Claim> hellos = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            hellos.add(gate.hello(source(i), new EmbeddedChannel()));
            assertThat(gate.keep(hellos.getLast(), HELLO, server)).isTrue();
        }
        assertThat(accepts()).isTrue();

        for (int i = 64; i < 128; i++) { // those that were accepted before
            hellos.add(gate.hello(source(i), new EmbeddedChannel()));
            assertThat(gate.keep(hellos.getLast(), HELLO, server)).isTrue();
            assertThat(accepts()).isFalse();
        }
        assertThat(gate.keep(gate.hello(source(128), new EmbeddedChannel()), HELLO, server)).isFalse();

        hellos.subList(0, 79).forEach(gate::drop);
        assertThat(accepts()).isFalse();
        gate.drop(hellos.get(79));
        assertThat(accepts()).isTrue();
    }
}

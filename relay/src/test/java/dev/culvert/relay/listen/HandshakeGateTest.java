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

    @Test
    void aFullListenerClosesTheNewestOfTheNoisiest() {
        for (int i = 0; i < 4; i++) {
            admit(NOISY);
        }
        admit(QUIET);

        assertThat(admit(source(2))).isTrue();

        open.forEach(EmbeddedChannel::runPendingTasks);
        assertThat(open).extracting(EmbeddedChannel::isOpen)
                .containsExactly(true, true, true, false, true, true);
        assertThat(admit(NOISY)).isFalse(); // it is the noisiest itself
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

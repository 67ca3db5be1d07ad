package dev.culvert.edge.listen;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class HandshakeGateTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

    private final EmbeddedChannel server = new EmbeddedChannel();
    private final HandshakeGate gate = new HandshakeGate(2, 2);

    private static Promise<Void> promise() {
        return ImmediateEventExecutor.INSTANCE.newPromise();
    }

    private boolean accepts() {
        return server.config().isAutoRead();
    }

    @Test
    void anAddressHasItsBoundOfConnections() {
        Promise<Void> first = promise();

        assertThat(gate.admit(ADDRESS, first)).isTrue();
        assertThat(gate.admit(ADDRESS, promise())).isTrue();
        assertThat(gate.admit(ADDRESS, promise())).isFalse();
        assertThat(gate.admit(ADDRESS, promise())).isFalse();

        first.setSuccess(null);
        assertThat(gate.admit(ADDRESS, promise())).isTrue();
        assertThat(gate.admit(ADDRESS, promise())).isFalse();
    }

    @Test
    void anAddressWithoutConnectionsIsForgotten() {
        Promise<Void> closed = promise();
        gate.admit(ADDRESS, closed);
        assertThat(gate.addresses()).isOne();

        closed.setSuccess(null);
        assertThat(gate.addresses()).isZero();
    }

    @Test
    void nothingIsAcceptedAboveTheFirstBound() {
        Promise<Void> first = promise();
        gate.begin(server, first);
        assertThat(accepts()).isTrue();

        gate.begin(server, promise());
        assertThat(accepts()).isFalse();

        first.setFailure(new IllegalStateException("the handshake failed"));
        assertThat(accepts()).isTrue();
    }

    @Test
    void whoWasAcceptedAboveTheSecondBoundIsTurnedAway() {
        for (int i = 0; i < 4; i++) {
            assertThat(gate.begin(server, promise())).isTrue();
        }

        assertThat(gate.begin(server, promise())).isFalse();
        assertThat(gate.handshakes()).isEqualTo(4);
    }
}

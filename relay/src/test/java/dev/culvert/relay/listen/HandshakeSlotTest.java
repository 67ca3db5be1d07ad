package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.testing.ClientHelloBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandshakeSlotTest {
    private static final byte[] HELLO = ClientHelloBytes.real("t.example");
    private static final SourceAddress NOISY = new SourceAddress(1, false);
    private static final SourceAddress QUIET = new SourceAddress(2, false);
    private static final SourceAddress THIRD = new SourceAddress(3, false);

    private final HandshakeGate gate = new HandshakeGate(3, 10_000, 10_000, 1 << 20);
    private final List<Peer> peers = new ArrayList<>();

    /** A connection behind its slot, and what comes through. */
    private final class Peer {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final Promise<Void> handshake = ImmediateEventExecutor.INSTANCE.newPromise();

        Peer(SourceAddress source) {
            channel.freezeTime();
            channel.pipeline().addFirst(new HandshakeSlot(gate, source, handshake));
            peers.add(this);
        }

        Peer sends(byte[] bytes) {
            channel.writeInbound(Unpooled.wrappedBuffer(bytes));
            return this;
        }

        boolean began() {
            channel.runPendingTasks();
            return channel.pipeline().get(HandshakeSlot.class) == null;
        }

        boolean isOpen() {
            channel.runPendingTasks();
            return channel.isOpen();
        }
    }

    private Peer whole(SourceAddress source) {
        return new Peer(source).sends(HELLO);
    }

    @AfterEach
    void nothingIsLeft() {
        peers.forEach(peer -> {
            peer.handshake.trySuccess(null);
            peer.channel.finishAndReleaseAll();
        });
        peers.forEach(peer -> peer.channel.runPendingTasks());
        assertThat(gate.handshakes()).isZero();
        assertThat(gate.helloBytes()).isZero();
    }

    @Test
    void partsOfHellosCostNoPlace() {
        for (int i = 0; i < 600; i++) {
            new Peer(NOISY).sends(new byte[]{22});
        }

        assertThat(gate.handshakes()).isZero();
        assertThat(whole(QUIET).began()).isTrue();
    }

    @Test
    void aHelloIsHandedOnWholeAndAsItCame() {
        Peer peer = new Peer(QUIET);
        for (byte b : ClientHelloBytes.inRecords(HELLO, 100)) {
            assertThat(peer.began()).isFalse();
            peer.sends(new byte[]{b});
        }

        ByteBuf came = peer.channel.readInbound();
        assertThat(ByteBufUtil.getBytes(came)).isEqualTo(ClientHelloBytes.inRecords(HELLO, 100));
        came.release();
        assertThat(gate.handshakes()).isOne();
        assertThat(gate.helloBytes()).isZero();
    }

    @Test
    void aPlaceEndsWithItsHandshakeOrAfterASecond() {
        Peer done = whole(QUIET);
        Peer stalled = whole(QUIET);
        assertThat(gate.handshakes()).isEqualTo(2);

        done.handshake.setSuccess(null);
        assertThat(gate.handshakes()).isOne();
        stalled.channel.advanceTimeBy(1, TimeUnit.SECONDS);
        stalled.channel.runScheduledPendingTasks();
        assertThat(gate.handshakes()).isZero();
        assertThat(stalled.isOpen()).isTrue();
    }

    @Test
    void theNewestOfTheNoisiestGivesItsPlaceToAnother() {
        Peer first = whole(NOISY);
        Peer second = whole(NOISY);
        Peer newest = whole(NOISY);

        assertThat(whole(QUIET).began()).isTrue();

        assertThat(newest.isOpen()).isFalse();
        assertThat(List.of(first.isOpen(), second.isOpen())).containsOnly(true);
        assertThat(gate.handshakes()).isEqualTo(3);
    }

    @Test
    void sourcesThatWaitTakeTurns() {
        Peer running = whole(THIRD);
        whole(NOISY);
        whole(QUIET);
        Peer noisy = whole(NOISY);
        Peer alsoNoisy = whole(NOISY);
        Peer quiet = whole(QUIET);
        assertThat(List.of(noisy.began(), alsoNoisy.began(), quiet.began())).containsOnly(false);
        assertThat(noisy.channel.config().isAutoRead()).isFalse();

        running.handshake.setSuccess(null);
        assertThat(noisy.began()).isTrue();
        noisy.handshake.setSuccess(null);

        assertThat(quiet.began()).isTrue();
        assertThat(alsoNoisy.began()).isFalse();
        assertThat(quiet.channel.config().isAutoRead()).isTrue();
    }

    @Test
    void whoLeavesWhileItWaitsIsNotBegun() {
        Peer running = whole(NOISY);
        whole(NOISY);
        whole(NOISY);
        Peer gone = whole(NOISY);
        Peer next = whole(NOISY);

        gone.channel.close();
        running.handshake.setSuccess(null);

        assertThat(next.began()).isTrue();
    }

    @Test
    void whoLeavesWhenItsTurnComesLosesNoPlace() {
        Peer running = whole(NOISY);
        whole(NOISY);
        whole(NOISY);
        Peer gone = whole(NOISY);

        running.handshake.setSuccess(null); // its turn is due on its loop
        gone.channel.pipeline().close();
        gone.channel.runPendingTasks();

        assertThat(gate.handshakes()).isEqualTo(2);
    }

    @Test
    void aHelloThatDripsIsClosedAfterThreeSeconds() {
        Peer slow = new Peer(NOISY);
        for (int i = 0; i < 5; i++) {
            assertThat(slow.isOpen()).isTrue();
            slow.sends(Arrays.copyOfRange(HELLO, i, i + 1));
            slow.channel.advanceTimeBy(HandshakeSlot.HELLO_TIME.toMillis() / 5, TimeUnit.MILLISECONDS);
            slow.channel.runScheduledPendingTasks();
        }

        assertThat(slow.isOpen()).isFalse();
        assertThat(gate.helloBytes()).isZero();
    }

    @Test
    void whatIsNoHelloOrTooLongIsClosed() {
        assertThat(new Peer(NOISY).sends("GET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII)).isOpen())
                .isFalse();
        assertThat(new Peer(NOISY).sends(new byte[]{22, 3, 1, 64, 0, 1, 1, 0, 0}).isOpen()).isFalse();
    }
}

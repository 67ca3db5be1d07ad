package dev.culvert.relay.listen;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.ClientHelloBytes;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.relay.testing.TlsCaller;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener whose gate is narrow. */
class RelayListenerIT {
    private static final int PATIENCE_SECONDS = 10;

    static {
        EventLoopWatch.install();
    }

    private final EventLoops loops = EventLoops.create(1);
    private @Nullable RelayListener listener;

    private void start(HandshakeGate gate, Consumer<Channel> init) {
        listener = await(RelayListener.start(HostPort.parse("127.0.0.1:0"), loops, gate, init));
    }

    private RelayListener listener() {
        return Objects.requireNonNull(listener);
    }

    private Socket dial() throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), listener().address().port());
        socket.setSoTimeout(PATIENCE_SECONDS * 1000);
        return socket;
    }

    @AfterEach
    void stop() {
        listener().stop(Duration.ZERO, Duration.ZERO).block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
    }

    @Test
    void oneConnectionTooManyOfAnAddressIsClosed() throws IOException {
        start(new HandshakeGate(10, 1), channel -> {});

        try (Socket first = dial()) {
            await().until(() -> listener().connections().count() == 1);
            try (Socket second = dial()) {
                assertThat(second.getInputStream().read()).isEqualTo(-1);
            }
            assertThat(first.isConnected()).isTrue();
            await().until(() -> listener().connections().count() == 1);
        }
    }

    @Test
    void peersThatVanishAreFoundByTheKernel() throws Exception {
        var accepted = new CompletableFuture<Channel>();
        start(new HandshakeGate(10, 10), accepted::complete);

        try (Socket caller = dial()) {
            Channel channel = accepted.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
            assumeThat(channel).isInstanceOf(EpollSocketChannel.class);
            assertThat(channel.config().getOption(EpollChannelOption.TCP_KEEPIDLE)).isEqualTo(60);
            assertThat(channel.config().getOption(EpollChannelOption.TCP_USER_TIMEOUT)).isEqualTo(300_000);
            assertThat(caller.isConnected()).isTrue();
        }
    }

    @Test
    void peersThatSayNothingOrStallHoldUpNobody() throws Exception {
        var gate = new HandshakeGate(1, 10);
        SslContext tls = tls();
        start(gate, channel -> channel.pipeline().addLast(tls.newHandler(channel.alloc())));

        try (Socket silent = dial(); Socket stalled = dial()) {
            await().until(() -> listener().connections().count() == 2);
            assertThat(gate.handshakes()).isZero();
            stalled.getOutputStream().write(ClientHelloBytes.real(null));
            await().until(() -> gate.handshakes() == 1);
            try (TlsCaller third = new TlsCaller(listener().address().port())) {
                third.head("GET /");
                assertThat(stalled.isClosed()).isFalse();
            }
            assertThat(silent.isClosed()).isFalse();
        }
    }

    private static SslContext tls() {
        return TlsContexts.edge(CertificateAuthority.create("test", Clock.systemUTC())
                .issueServer(List.of("t.example"), List.of(), Duration.ofDays(1)), List.of("http/1.1"));
    }

    @Test
    void aHandshakeTooManyWaitsUntilOneIsOver() throws Exception {
        var gate = new HandshakeGate(1, 10);
        SslContext tls = tls();
        start(gate, channel -> channel.pipeline().addLast(tls.newHandler(channel.alloc())));

        Socket idle = dial();
        idle.getOutputStream().write(ClientHelloBytes.real(null));
        await().until(() -> gate.handshakes() == 1);
        try (TlsCaller second = new TlsCaller(listener().address().port())) {
            var greeted = CompletableFuture.supplyAsync(() -> second.head("GET /"));
            await().until(() -> listener().connections().count() == 2);
            assertThat(greeted).isNotDone();

            idle.close();
            greeted.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        await().until(() -> gate.handshakes() == 0);
    }
}

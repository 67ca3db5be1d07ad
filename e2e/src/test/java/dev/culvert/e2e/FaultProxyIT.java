package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.config.HostPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each fault does what it says, whichever server makes it. */
class FaultProxyIT {
    private static final int PATIENCE_MILLIS = 10_000;
    private static final int SHORT_MILLIS = 300;

    private final ServerSocket echo = echo();

    @AfterEach
    void stop() throws IOException {
        echo.close();
    }

    private static ServerSocket echo() {
        try {
            var listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Thread.ofVirtual().start(() -> {
                while (!listener.isClosed()) {
                    try {
                        Socket socket = listener.accept();
                        Thread.ofVirtual().start(() -> echo(socket));
                    } catch (IOException closed) {
                        return;
                    }
                }
            });
            return listener;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void echo(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException lost) {
            return;
        }
    }

    static Stream<Named<Supplier<FaultServer>>> servers() {
        return ToxicContainer.isUsable()
                ? Stream.of(Named.of("here", ToxicServer::start), Named.of("container", ToxicContainer::run))
                : Stream.of(Named.of("here", ToxicServer::start));
    }

    @Test
    void aDockerEngineHasToxiproxy() {
        assumeTrue(ToxicContainer.isUsable(), "no Docker engine with " + ToxicContainer.IMAGE);
    }

    @ParameterizedTest
    @MethodSource("servers")
    void latencyDelaysBothWays(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            proxy.delay(Duration.ofMillis(100), Duration.ofMillis(20));

            assertThat(roundTrip(socket, 1)).isGreaterThan(Duration.ofMillis(155));

            proxy.heal();
            await().until(() -> roundTrip(socket, 1).compareTo(Duration.ofMillis(155)) < 0);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void bandwidthTakesItsTime(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            proxy.limit(100);

            assertThat(roundTrip(socket, 50_000)).isGreaterThan(Duration.ofMillis(400));
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void slicesComeBackWhole(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            proxy.slice(100, Duration.ofNanos(50_000));

            roundTrip(socket, 10_000);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void silenceLetsNothingThroughAndEndsNothing(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            proxy.silence();

            socket.getOutputStream().write(1);
            socket.setSoTimeout(SHORT_MILLIS);
            assertThatThrownBy(() -> socket.getInputStream().read())
                    .isInstanceOf(SocketTimeoutException.class);

            proxy.heal();
            socket.setSoTimeout(PATIENCE_MILLIS);
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void resetSendsRst(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            proxy.reset();

            socket.getOutputStream().write(1);
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void downRefusesUntilUp(Supplier<FaultServer> server) throws IOException {
        try (FaultProxy proxy = start(server); Socket socket = connect(proxy)) {
            HostPort address = proxy.address();
            proxy.down();

            assertEnded(socket);
            assertThatThrownBy(() -> connect(proxy)).isInstanceOf(IOException.class);

            proxy.up();
            assertThat(proxy.address()).isEqualTo(address);
            connect(proxy).close();
        }
    }

    /** By FIN or, where the proxy had not read all, by RST. */
    private static void assertEnded(Socket socket) throws IOException {
        try {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (SocketException reset) {
            assertThat(reset).hasMessageContaining("reset");
        }
    }

    private FaultProxy start(Supplier<FaultServer> server) throws IOException {
        return FaultProxy.start(server.get(), HostPort.of((InetSocketAddress) echo.getLocalSocketAddress()));
    }

    /** A connection that has been through the proxy once: what is done to it next, is done to all of it. */
    private static Socket connect(FaultProxy proxy) throws IOException {
        var socket = new Socket(proxy.address().host(), proxy.address().port());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        roundTrip(socket, 1);
        return socket;
    }

    private static Duration roundTrip(Socket socket, int bytes) throws IOException {
        byte[] sent = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            sent[i] = (byte) (i * 31 >>> 3);
        }
        long start = System.nanoTime();
        socket.getOutputStream().write(sent);
        assertThat(socket.getInputStream().readNBytes(bytes)).isEqualTo(sent);
        return Duration.ofNanos(System.nanoTime() - start);
    }
}

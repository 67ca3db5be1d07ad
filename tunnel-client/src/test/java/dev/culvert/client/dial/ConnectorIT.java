package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.EventLoopWatch;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Connections to real sockets. */
class ConnectorIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final EventLoops LOOPS = EventLoops.create(1);
    private Connector connector = new Connector(LOOPS, Outbound.of(null, Map.of()));

    @BeforeAll
    static void watchEventLoops() {
        EventLoopWatch.install();
    }

    @AfterAll
    static void closeLoops() {
        LOOPS.dispose();
    }

    private static ServerSocket listener(InetAddress address) throws IOException {
        return new ServerSocket(0, 5, address);
    }

    private InetAddress reached(String host, int port) {
        Channel channel = Objects
                .requireNonNull(
                        connector.open(new HostPort(host, port), LOOPS.group().next()).block(PATIENCE));
        InetAddress remote = ((InetSocketAddress) channel.remoteAddress()).getAddress();
        channel.close().awaitUninterruptibly();
        return remote;
    }

    @Test
    void anIpv6AddressIsReached() throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("::1");
        assumeTrue(usable(loopback), "no IPv6 here");
        try (ServerSocket server = listener(loopback)) {
            assertThat(reached("::1", server.getLocalPort())).isEqualTo(loopback);
        }
    }

    @Test
    void theNextAddressOfANameIsTriedWhenOneCanNotBeReached() throws IOException {
        InetAddress second = InetAddress.ofLiteral("127.0.0.3");
        connector = connector(List.of(List.of(InetAddress.ofLiteral("127.0.0.2"), second)));
        try (ServerSocket server = listener(second)) {
            assertThat(reached("server.example", server.getLocalPort())).isEqualTo(second);
        }
    }

    @Test
    void localhostIsReachedWhereItIsIpv6Alone() throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("::1");
        assumeTrue(usable(loopback), "no IPv6 here");
        try (ServerSocket server = listener(loopback)) {
            assertThat(reached("localhost", server.getLocalPort())).isEqualTo(loopback);
        }
    }

    @Test
    void aSilentAddressDelaysTheOthersByTheStagger() throws IOException {
        InetAddress second = InetAddress.ofLiteral("127.0.0.3");
        InetAddress silent = InetAddress.ofLiteral("127.0.0.2");
        connector = connector(List.of(List.of(silent, second)));
        try (ServerSocket full = new ServerSocket(0, 1, silent);
                ServerSocket server = new ServerSocket(full.getLocalPort(), 5, second);
                Socket one = new Socket(silent, full.getLocalPort());
                Socket two = new Socket(silent, full.getLocalPort())) {
            long began = System.nanoTime();
            assertThat(reached("server.example", server.getLocalPort())).isEqualTo(second);
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Connector.CONNECT_TIMEOUT);
            assertThat(one.isConnected() && two.isConnected()).isTrue();
        }
    }

    @Test
    void aNameIsLookedUpAnewForEachConnection() throws IOException {
        InetAddress moved = InetAddress.ofLiteral("127.0.0.3");
        connector = connector(List.of(List.of(InetAddress.getLoopbackAddress()), List.of(moved)));
        try (ServerSocket before = listener(InetAddress.getLoopbackAddress());
                ServerSocket after = listener(moved)) {
            assertThat(reached("server.example", before.getLocalPort()))
                    .isEqualTo(InetAddress.getLoopbackAddress());
            assertThat(reached("server.example", after.getLocalPort())).isEqualTo(moved);
        }
    }

    /** One whose names have these addresses at each look-up. */
    private static Connector connector(List<List<InetAddress>> answers) {
        Iterator<List<InetAddress>> next = answers.iterator();
        return new Connector(LOOPS, Outbound.of(null, Map.of()),
                (host, loop) -> Mono.fromSupplier(next::next));
    }

    @Test
    void whereNoAddressCanBeReachedTheServerIsNamed() throws IOException {
        int free = free();

        assertThatThrownBy(() -> reached("127.0.0.1", free)).isInstanceOf(DialFailure.class)
                .hasMessageContaining("127.0.0.1:" + free + ": ")
                .hasMessageContaining("refused")
                .matches(failure -> ((DialFailure) failure).isAbsence(), "nobody listens there");

        connector = connector(
                List.of(List.of(InetAddress.ofLiteral("127.0.0.2"), InetAddress.ofLiteral("127.0.0.3"))));
        assertThatThrownBy(() -> reached("server.example", free))
                .hasMessageContaining("none of its 2 addresses");
    }

    private static int free() throws IOException {
        try (ServerSocket reserved = listener(InetAddress.getLoopbackAddress())) {
            return reserved.getLocalPort();
        }
    }

    private static boolean usable(InetAddress address) {
        try (ServerSocket server = listener(address)) {
            return server.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}

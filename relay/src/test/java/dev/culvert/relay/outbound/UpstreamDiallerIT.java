package dev.culvert.relay.outbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.upstream.Ejection;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamTrust;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Dials while the configured names are replaced. */
class UpstreamDiallerIT {
    private static final UpstreamAddress UPSTREAM = new UpstreamAddress(false, false, "x", 1);

    private final EventLoops loops = EventLoops.create(1);

    @AfterEach
    void end() {
        loops.dispose();
    }

    @Test
    void aDialWhoseAddressesAreForgottenResolvesAgain() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var names = new UpstreamNames(
                    Map.of("x:1", List.of(new HostPort("127.0.0.1", server.getLocalPort()))), List.of());
            var shared = new Upstreams(UpstreamLimits.defaults(), names, UpstreamTrust.NONE);
            EventLoop loop = loops.group().next();
            UpstreamDialler dialler = new UpstreamDialler(shared, loop);
            ForgetfulClock clock = new ForgetfulClock();
            Endpoints endpoints = new Endpoints("x:1", Ejection.defaults(), clock::nanos);
            clock.endpoints.set(endpoints);
            CompletableFuture<String> outcome = new CompletableFuture<>();

            loop.execute(() -> dialler.dial(UPSTREAM, endpoints, null, Dialled::new, new Recorder(outcome)));

            assertThat(outcome.get(20, TimeUnit.SECONDS)).isEqualTo("connected");
            assertThat(clock.reads.get()).as("reads of the clock").isGreaterThan(2);
            loop.submit(dialler::close).get(20, TimeUnit.SECONDS);
            shared.close();
        }
    }

    @Test
    void aDialThatFailedIsRepeatedOnce() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            AtomicInteger dials = new AtomicInteger();

            String outcome = dial(server.getLocalPort(), channel -> {
                if (dials.incrementAndGet() == 1) {
                    channel.close(); // fails the dial, as an event of another socket did
                }
                return new Dialled(channel);
            });

            assertThat(outcome).isEqualTo("connected");
            assertThat(dials).hasValue(2);
        }
    }

    @Test
    void anUpstreamThatRefusesIsDialledTwice() throws Exception {
        AtomicInteger dials = new AtomicInteger();
        int nobody;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = server.getLocalPort();
        }

        String outcome = dial(nobody, channel -> {
            dials.incrementAndGet();
            return new Dialled(channel);
        });

        assertThat(outcome).isEqualTo("the upstream refused the connection");
        assertThat(dials).hasValue(2);
    }

    @Test
    void localhostIsReachedWhereItIsIpv6Alone() throws Exception {
        try (ServerSocket server = sixthVersion()) {
            var upstream = new UpstreamAddress(false, false, "localhost", server.getLocalPort());
            AtomicInteger dials = new AtomicInteger();
            Endpoints endpoints = new Endpoints("localhost", Ejection.defaults(), System::nanoTime);

            for (int i = 0; i < 50; i++) {
                assertThat(dial(upstream, UpstreamNames.DNS, endpoints, channel -> {
                    dials.incrementAndGet();
                    return new Dialled(channel);
                })).isEqualTo("connected");
            }

            assertThat(dials).as("the address that connected is remembered").hasValue(51);
        }
    }

    private static ServerSocket sixthVersion() throws IOException {
        try {
            return new ServerSocket(0, 50, InetAddress.ofLiteral("::1"));
        } catch (BindException e) {
            return abort("no IPv6 here");
        }
    }

    @Test
    void aSilentAddressDelaysOneDialOnly() throws Exception {
        InetAddress other = InetAddress.ofLiteral("127.0.0.2");
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket server = new ServerSocket(silent.getLocalPort(), 50, other);
                Socket one = filling(silent);
                Socket two = filling(silent)) {
            int port = server.getLocalPort();
            var names = new UpstreamNames(Map.of("x:1",
                    List.of(new HostPort("127.0.0.1", port), new HostPort("127.0.0.2", port))), List.of());
            Endpoints endpoints = new Endpoints("x:1", Ejection.defaults(), System::nanoTime);
            AtomicInteger dials = new AtomicInteger();

            for (int i = 0; i < 50; i++) {
                assertThat(dial(UPSTREAM, names, endpoints, channel -> {
                    dials.incrementAndGet();
                    return new Dialled(channel);
                })).isEqualTo("connected");
            }

            assertThat(dials.get()).as("dials").isBetween(50, 51);
            assertThat(endpoints.ejected()).isZero();
            assertThat(one.isConnected() && two.isConnected()).isTrue();
        }
    }

    /** A connection that takes a place in the queue of a listener that accepts none, so that it fills. */
    private static Socket filling(ServerSocket listener) throws IOException {
        return new Socket(listener.getInetAddress(), listener.getLocalPort());
    }

    private String dial(int port, Function<Channel, Dialled> install) throws Exception {
        var names = new UpstreamNames(Map.of("x:1", List.of(new HostPort("127.0.0.1", port))), List.of());
        return dial(UPSTREAM, names, new Endpoints("x:1", Ejection.defaults(), System::nanoTime), install);
    }

    private String dial(UpstreamAddress upstream, UpstreamNames names, Endpoints endpoints,
            Function<Channel, Dialled> install) throws Exception {
        var shared = new Upstreams(UpstreamLimits.defaults(), names, UpstreamTrust.NONE);
        EventLoop loop = loops.group().next();
        UpstreamDialler dialler = new UpstreamDialler(shared, loop);
        CompletableFuture<String> outcome = new CompletableFuture<>();

        loop.execute(() -> dialler.dial(upstream, endpoints, null, install, new Recorder(outcome)));

        try {
            return outcome.get(20, TimeUnit.SECONDS);
        } finally {
            loop.submit(dialler::close).get(20, TimeUnit.SECONDS);
            shared.close();
        }
    }

    /**
     * A clock that replaces the configured names in the last step of the first resolution, which is between
     * the addresses' arrival and the choice of one.
     */
    private static final class ForgetfulClock {
        private static final int LAST_OF_FIRST_RESOLUTION = 2;
        private final AtomicInteger reads = new AtomicInteger();
        private final AtomicReference<Endpoints> endpoints = new AtomicReference<>();

        long nanos() {
            if (reads.incrementAndGet() == LAST_OF_FIRST_RESOLUTION) {
                endpoints.get().forget();
            }
            return System.nanoTime();
        }
    }

    private record Recorder(
            CompletableFuture<String> outcome) implements UpstreamDialler.Outcome<Dialled> {
        @Override
        public void connected(Dialled connection) {
            connection.close();
            outcome.complete("connected");
        }

        @Override
        public void failed(Problem problem) {
            outcome.complete(problem.detail());
        }
    }

    private record Dialled(Channel channel) implements UpstreamConnection {
        @Override
        public void adopt() {}

        @Override
        public void at(Endpoint reached) {}

        @Override
        public Endpoint endpoint() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isUsable() {
            return channel.isActive();
        }

        @Override
        public void close() {
            channel.close();
        }

        @Override
        public void abandon() {
            channel.close();
        }
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.TcpRouteConfig;
import dev.culvert.server.ServerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Sessions and certificates live seconds: streams of every kind go on over several renewals of both. Three clients, of
 * four, two and one connections; something on the way of the second ends TLS. For the long run:
 *
 * <pre>
 * -Dculvert.renewal.life=30s -Dculvert.renewal.session=20s -Dculvert.renewal.seconds=150 -Dculvert.renewal.tick=1s
 * -Dculvert.renewal.renewals=5 -Dculvert.renewal.webSockets=200 -Dculvert.renewal.events=200 -Dculvert.renewal.http2=50
 * </pre>
 */
class RenewedStreamsIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration LIFE = duration("life", "10s");
    private static final Duration SESSION = duration("session", "2s");
    private static final Duration RUN = Duration.ofSeconds(number("seconds", 14));
    private static final Duration TICK = duration("tick", "0.2s");
    /** How often the sessions and the certificate of each client are renewed at least. */
    private static final int RENEWALS = number("renewals", 2);
    private static final int WEB_SOCKETS = number("webSockets", 6);
    private static final int EVENT_STREAMS = number("events", 6);
    private static final int HTTP2_STREAMS = number("http2", 6);
    /** Of each of the other kinds, for each client. */
    private static final int OTHERS = 1;
    private static final List<String> NAMES = List.of("four", "two", "one");
    private static final String ACCOUNT = "acme";
    private static final String ENDED = "session drained, its certificate has ended";

    @TempDir
    Path folder;
    private final ConnectionProvider connections = ConnectionProvider.newConnection();
    private final ConnectionProvider http2 = ConnectionProvider.create("http2", 64);

    private static Duration duration(String key, String byDefault) {
        return Duration.parse("PT" + System.getProperty("culvert.renewal." + key, byDefault));
    }

    private static int number(String key, int byDefault) {
        return Integer.getInteger("culvert.renewal." + key, byDefault);
    }

    private static int connectionsOf(String name) {
        return NAMES.indexOf(name) == 0 ? 4 : 3 - NAMES.indexOf(name);
    }

    private static ServerConfig shortLived(ServerConfig usual) {
        ServerConfig.Tunnel tunnel = usual.tunnel();
        ServerConfig.Ca ca = tunnel.ca();
        return Listeners.with(usual, usual.edge(),
                new ServerConfig.Tunnel(tunnel.listen(), tunnel.tls(), false, false, List.of(), false,
                        new ServerConfig.Ca(ca.certificate(), ca.key(), LIFE), false))
                .with(new ServerConfig.Tcp(HostPort.parse("127.0.0.1:0")));
    }

    private static void connect(Platform platform, String name, int port, RoutingConfig router)
            throws Exception {
        ClientConfig usual = platform.clientConfig(ACCOUNT, name, platform.createRuntime(ACCOUNT, name), null,
                router, port);
        platform.connect(new ClientConfig(usual.server(), usual.serverCa(), null, null,
                usual.enrolmentTokenFile(), usual.identityDir(), usual.health(), null, null, router,
                connectionsOf(name), usual.conflictRetry(), SESSION));
    }

    private static String label(String name) {
        return "echo." + ACCOUNT + "-" + name + "." + Platform.DOMAIN;
    }

    @Test
    void streamsOutliveSessionsAndCertificates() throws Exception {
        try (LogLines log = new LogLines(Level.WARN);
                LongStreams streams = new LongStreams(TICK);
                Platform platform = Platform.start(folder, RenewedStreamsIT::shortLived);
                TlsEnd inspector = TlsEnd.again(folder, () -> platform.server.tunnelAddress().port());
                TlsEcho echo = new TlsEcho(label(NAMES.getFirst()))) {
            var router = new RoutingConfig(List.of(RouteConfig.of("/", streams.uri().toString())),
                    List.of(TcpRouteConfig.named("echo", HostPort.parse("127.0.0.1:" + echo.port()))),
                    RoutingConfig.Policy.refusing(), Map.of());
            int direct = platform.server.tunnelAddress().port();
            for (String name : NAMES) {
                connect(platform, name, name.equals("two") ? inspector.port() : direct, router);
            }
            int all = NAMES.stream().mapToInt(RenewedStreamsIT::connectionsOf).sum();
            await().atMost(PATIENCE).until(() -> platform.sessions().size() >= all);

            long begun = System.nanoTime();
            open(platform, streams, echo);
            streams.awaitProgress();
            var watch = new Renewals(log);
            await().atMost(RUN.plus(PATIENCE))
                    .until(() -> System.nanoTime() - begun > RUN.toNanos() && watch.least() >= RENEWALS);
            long held = Pattern.compile("\"draining\"").matcher(platform.tunnels()).results().count();
            streams.awaitProgress();
            streams.end();

            System.out.printf("renewed streams: certificates %s, sessions %s, %d s: %s, %d sessions go away"
                    + " at the end; %d streams, %d lines, %d cut%n", LIFE, SESSION,
                    Duration.ofNanos(System.nanoTime() - begun).toSeconds(), watch, held, streams.count(),
                    streams.lines(), streams.cuts().size());
            assertThat(streams.cuts()).isEmpty();
            assertThat(log.all()).noneMatch(line -> line.startsWith(ENDED));
        } finally {
            connections.disposeLater().block(PATIENCE);
            http2.disposeLater().block(PATIENCE);
        }
    }

    private void open(Platform platform, LongStreams streams, TlsEcho echo) throws Exception {
        for (int i = 0; i < NAMES.size(); i++) {
            String name = NAMES.get(i);
            HttpClient caller = platform.caller(ACCOUNT, name, connections);
            HttpClient multiplexed = platform.http2Caller(ACCOUNT, name, http2);
            share(WEB_SOCKETS, i, () -> streams.webSocket(caller));
            share(EVENT_STREAMS, i, () -> streams.events(caller));
            share(HTTP2_STREAMS, i, () -> streams.echo(multiplexed, "HTTP/2 stream"));
            for (int j = 0; j < OTHERS; j++) {
                streams.echo(caller, "HTTP/1.1 exchange");
                streams.upload(caller);
            }
        }
        for (int j = 0; j < OTHERS; j++) {
            streams.raw(echo.call(Objects.requireNonNull(platform.server.tcpAddress()).port()));
        }
    }

    /** Each client has its share. */
    private static void share(int all, int client, Runnable open) {
        for (int i = client; i < all; i += NAMES.size()) {
            open.run();
        }
    }

    /** What the server's log says of renewals since this was made. */
    private static final class Renewals {
        private final LogLines log;
        private final List<String> before;

        Renewals(LogLines log) {
            this.log = log;
            this.before = log.all();
        }

        private long lines(String event, String name) {
            return log.all()
                    .stream()
                    .skip(before.size())
                    .filter(line -> line.startsWith(event) && line.contains(ACCOUNT + "/" + name))
                    .count();
        }

        private long sessions(String name) {
            return lines("session opened", name) / connectionsOf(name);
        }

        private long certificates(String name) {
            return lines("client certificate renewed", name);
        }

        long least() {
            return NAMES.stream()
                    .mapToLong(name -> Math.min(sessions(name), certificates(name)))
                    .min()
                    .orElse(0);
        }

        @Override
        public String toString() {
            return String.join(", ", NAMES.stream()
                    .map(name -> name + ": all sessions renewed " + sessions(name) + " times, certificate "
                            + certificates(name) + " times")
                    .toList());
        }
    }
}

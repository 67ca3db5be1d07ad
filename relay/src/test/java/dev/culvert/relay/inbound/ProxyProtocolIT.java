package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.PlainPeers;
import dev.culvert.relay.listen.ProxySenders;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.TlsCaller;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The edge behind a balancer that says by PROXY headers whose connections it brings. */
class ProxyProtocolIT {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String HEADER = "PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n";
    private static final String GET = "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n";

    private final FakeRelay relay = new FakeRelay();
    private final EventLoops loops = EventLoops.create(1);
    private final Telemetry telemetry = new Telemetry();
    private final List<Socket> sockets = new ArrayList<>();
    private @Nullable EdgeListener listener;

    private void start(String trusted, Duration patience, int perAddress, boolean tls) {
        CallerLimits limits = CallerLimits.defaults().ofAddress(perAddress);
        var quotas = new RuntimeQuotas(limits.ofRuntime(), MemoryBudget.ofProcess(0));
        var answerer = new EdgeRuntimes.RuntimeEndpoint("acme/prod", relay,
                quotas.of("id-1", OwnLimits.NONE));
        var peers = new PlainPeers("edge", List.of(Cidr.parse(trusted)));
        Entrance behind = new Entrance.Plain(peers);
        if (tls) {
            var material = CertificateAuthority.create("test", Clock.systemUTC())
                    .issueServer(List.of("acme.example"), List.of(), Duration.ofDays(1));
            behind = Entrance.Secure.with(TlsContexts.edge(material, List.of("http/1.1")));
        }
        var shared = new EdgeContext(host -> answerer,
                new ForwardingRules("test", List.of(Cidr.parse(trusted))), limits, telemetry,
                new EdgeMeters(telemetry), behind.scheme(), null, EdgeReporting.NONE, quotas.memory());
        listener = Objects.requireNonNull(EdgeListener
                .start(HostPort.parse("127.0.0.1:0"),
                        new Entrance.Announced(new ProxySenders(peers, patience), behind), shared, loops)
                .block());
    }

    private void start() {
        start("127.0.0.1", LONG, 100, false);
    }

    private int port() {
        return Objects.requireNonNull(listener).address().port();
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        Objects.requireNonNull(listener).stop(Duration.ZERO).block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        telemetry.close();
    }

    private Socket send(String text) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port());
        sockets.add(socket);
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    private String origin() throws InterruptedException {
        var fields = relay.next().request.fields();
        return fields.get("x-forwarded-for") + " " + fields.get("x-forwarded-port");
    }

    @Test
    void theCallerIsWhomTheHeaderNames() throws Exception {
        start();

        send(HEADER + GET);

        assertThat(origin()).isEqualTo("192.0.2.7 443");
    }

    @Test
    void aHeaderMayComeInPieces() throws Exception {
        start();
        Socket socket = send("");
        for (byte piece : (HEADER + GET).getBytes(StandardCharsets.ISO_8859_1)) {
            socket.getOutputStream().write(piece);
            socket.getOutputStream().flush();
        }

        assertThat(origin()).isEqualTo("192.0.2.7 443");
    }

    @Test
    void tlsComesBehindTheHeader() throws Exception {
        start("127.0.0.1", LONG, 100, true);

        try (TlsCaller caller = TlsCaller.behind(port(), HEADER)) {
            caller.get("/");

            assertThat(origin()).isEqualTo("192.0.2.7 443");
        }
    }

    /** The balancer is a trusted proxy: a caller whom it does not name is not. */
    @ParameterizedTest
    @ValueSource(strings = {"\r\n\r\n\0\r\nQUIT\n \0\0\0", "PROXY UNKNOWN\r\n"})
    void aHeaderThatNamesNobodyMakesNobodyTrusted(String header) throws Exception {
        start();

        send(header + GET.replaceFirst("\r\n", "\r\nX-Forwarded-For: 10.0.0.1\r\n"));

        RelayRequest request = relay.next().request;
        assertThat(request.fields().get("x-forwarded-for")).hasToString("unknown");
        assertThat(request.fields().get("x-forwarded-port")).hasToString(String.valueOf(port()));
    }

    @ParameterizedTest
    @ValueSource(strings = {GET, "PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\n" + GET,
            "PROXY UDP4 192.0.2.7 198.51.100.1 40000 443\r\n" + GET, "\u0016\u0003\u0001\0\0"})
    void whatBeginsOtherwiseIsClosed(String bytes) throws Exception {
        start();

        assertThat(isClosed(send(bytes))).isTrue();
        assertThat(relay.all).isEmpty();
    }

    @Test
    void whoSendsNoHeaderInTimeIsClosed() throws Exception {
        start("127.0.0.1", Duration.ofMillis(50), 100, false);

        assertThat(isClosed(send("PROXY TCP4 192.0."))).isTrue();
    }

    @Test
    void nobodyElseIsBelieved() throws Exception {
        start("192.0.2.0/24", LONG, 100, false);

        assertThat(isClosed(send(HEADER + GET))).isTrue();
        assertThat(relay.all).isEmpty();
    }

    @Test
    void connectionsCountForTheAddressOfTheHeader() throws Exception {
        start("127.0.0.1", LONG, 1, false);
        send(HEADER + GET);
        assertThat(origin()).startsWith("192.0.2.7");

        assertThat(isClosed(send(HEADER + GET))).isTrue();
        send(HEADER.replace("192.0.2.7", "192.0.2.8") + GET);

        assertThat(origin()).startsWith("192.0.2.8");
    }

    @Test
    void aServerThatStopsDoesNotWaitForHeaders() throws Exception {
        start();
        Socket silent = send("PROXY ");
        await().until(() -> Objects.requireNonNull(listener).connections() == 1);

        Objects.requireNonNull(listener).stop(Duration.ofSeconds(20)).block(Duration.ofSeconds(10));

        assertThat(isClosed(silent)).isTrue();
    }
}

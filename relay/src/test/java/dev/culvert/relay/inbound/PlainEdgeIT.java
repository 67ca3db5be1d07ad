package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.HostPort;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.PlainPeers;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The edge without TLS, behind a balancer: the first bytes say which protocol it is. */
class PlainEdgeIT {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            .getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NO_SETTINGS = new byte[]{0, 0, 0, 4, 0, 0, 0, 0, 0};
    private static final int SETTINGS = 4;

    private final FakeRelay relay = new FakeRelay();
    private final EventLoops loops = EventLoops.create(1);
    private final Telemetry telemetry = new Telemetry();
    private EdgeListener listener;
    private Socket socket;

    @BeforeEach
    void start() throws IOException {
        start(CallerLimits.defaults());
    }

    private void start(CallerLimits limits) throws IOException {
        var quotas = new RuntimeQuotas(limits.ofRuntime(),
                MemoryBudget.ofProcess(limits.maxBufferedBytes().bytes()));
        var answerer = new EdgeRuntimes.RuntimeEndpoint("acme/prod", relay,
                quotas.of("id-1", OwnLimits.NONE));
        var shared = new EdgeContext(host -> answerer,
                new ForwardingRules("test", List.of()), limits, telemetry, new EdgeMeters(telemetry),
                AsciiString.cached("http"), null, EdgeReporting.NONE, quotas.memory());
        var peers = new PlainPeers("edge", List.of(Cidr.parse("127.0.0.1")));
        listener = Objects.requireNonNull(EdgeListener
                .start(HostPort.parse("127.0.0.1:0"), new Entrance.Plain(peers), shared, loops)
                .block());
        socket = new Socket(InetAddress.getLoopbackAddress(), listener.address().port());
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
    }

    private void startImpatient() throws IOException {
        stopListener();
        Duration head = Duration.ofMillis(50);
        Duration other = Duration.ofSeconds(20);
        start(EdgeFixture.limits(head, other, other, other));
    }

    private void stopListener() throws IOException {
        socket.close();
        listener.stop(Duration.ZERO).block();
    }

    @AfterEach
    void stop() throws IOException {
        stopListener();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        telemetry.close();
    }

    private InputStream send(byte[]... parts) throws IOException {
        for (byte[] part : parts) {
            socket.getOutputStream().write(part);
            socket.getOutputStream().flush();
        }
        return socket.getInputStream();
    }

    private InputStream send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void aPrefaceBeginsHttp2() throws IOException {
        InputStream in = send(PREFACE, NO_SETTINGS);

        assertThat(in.readNBytes(9)[3]).isEqualTo((byte) SETTINGS);
    }

    @Test
    void aPrefaceMayComeInPieces() throws IOException {
        byte[][] pieces = new byte[PREFACE.length][];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new byte[]{PREFACE[i]};
        }
        InputStream in = send(pieces);

        assertThat(in.readNBytes(9)[3]).isEqualTo((byte) SETTINGS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PRI * HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
            "\0\0\r\n\r\n"})
    void whatOnlyLooksLikeOneIsRefusedInHttp1(String text) throws IOException {
        assertThat(new String(send(text).readNBytes(10), StandardCharsets.ISO_8859_1))
                .startsWith("HTTP/1.1 4");
    }

    @Test
    void allElseIsHttp1() throws Exception {
        send("POST /x HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 0\r\n\r\n");

        assertThat(relay.next().request.fields().path()).hasToString("/x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "PRI * H"})
    void whoSaysNothingOrTooLittleIsCut(String text) throws IOException {
        startImpatient();

        assertThat(send(text).read()).isEqualTo(-1);
    }

    @Test
    void aServerThatStopsDoesNotWaitForWhoSaysNothing() throws IOException {
        assertThat(send("P").available()).isZero();
        await().until(() -> listener.connections() == 1);

        listener.stop(Duration.ofSeconds(20)).block(Duration.ofSeconds(10));

        assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
}

package dev.culvert.relay.inbound.raw;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.inbound.Limited;
import dev.culvert.relay.inbound.RawFixture;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.ClientHelloBytes;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Raw connections at the edge: whom they are for, what refuses them, how they end. */
class RawListenerIT {
    private static final String DB = "db." + RawFixture.HOST;

    @AutoClose
    private final RawFixture edge = new RawFixture();

    /** What a real TLS client says of the answer to its hello. */
    private static String handshake(RawFixture fixture, @Nullable String serverName)
            throws IOException, GeneralSecurityException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, null, null);
        try (Socket plain = fixture.connect();
                SSLSocket socket = (SSLSocket) tls.getSocketFactory()
                        .createSocket(plain, "127.0.0.1", 0, true)) {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setServerNames(serverName == null ? List.of() : List.of(new SNIHostName(serverName)));
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return "done";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** An exchange that is connected to its upstream, and its caller. */
    private record Connected(Socket caller, Exchange exchange) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            caller.close();
        }
    }

    private Connected connected(RawFixture fixture) throws Exception {
        Socket caller = fixture.ask(DB);
        Exchange exchange = fixture.relay.next();
        exchange.head("200", false);
        return new Connected(caller, exchange);
    }

    private static String read(Socket socket, int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), ISO_8859_1);
    }

    @Test
    void aServiceBelowAHostOfTheRuntimeIsAskedFor() throws Exception {
        byte[] hello = ClientHelloBytes.real(DB);
        try (Socket caller = edge.connect()) {
            caller.getOutputStream().write(hello);
            Exchange exchange = edge.relay.next();

            assertThat(exchange.request.kind()).isEqualTo(RelayRequest.Kind.TCP);
            assertThat(exchange.request.fields().method()).hasToString("CONNECT");
            assertThat(exchange.request.fields().authority()).hasToString(DB);
            assertThat(exchange.request.fields().get(RelayRequest.SERVICE)).hasToString("db");
            await().untilAsserted(() -> assertThat(exchange.body()).isEqualTo(new String(hello, ISO_8859_1)));
            assertThat(edge.open()).isEqualTo(1);
        }
    }

    @Test
    void aPostQuantumHelloInSmallRecordsAndPacketsIsRead() throws Exception {
        byte[] hello = ClientHelloBytes.inRecords(ClientHelloBytes.postQuantum(DB), 7);
        try (Socket caller = edge.connect()) {
            caller.setTcpNoDelay(true);
            for (byte next : hello) {
                caller.getOutputStream().write(next);
            }
            Exchange exchange = edge.relay.next();

            assertThat(exchange.request.fields().authority()).hasToString(DB);
            await().untilAsserted(() -> assertThat(exchange.body()).isEqualTo(new String(hello, ISO_8859_1)));
        }
    }

    @Test
    void aHostOfTheRuntimeIsAskedForAsAWhole() throws Exception {
        try (Socket caller = edge.ask(RawFixture.HOST)) {
            Exchange exchange = edge.relay.next();

            assertThat(exchange.request.fields().authority()).hasToString(RawFixture.HOST);
            assertThat(exchange.request.fields().get(RelayRequest.SERVICE)).isNull();
            assertThat(caller.isClosed()).isFalse();
        }
    }

    @Test
    void anUnknownNameIsToldByAnAlert() throws Exception {
        assertThat(handshake(edge, "db.other.example")).contains("unrecognized_name");
        assertThat(handshake(edge, "a.b." + RawFixture.HOST)).contains("unrecognized_name");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.problems("unknown-host")).isEqualTo(2);
    }

    @Test
    void noNameIsToldByAnAlert() throws Exception {
        assertThat(handshake(edge, null)).contains("unrecognized_name");
    }

    @Test
    void whatTheClusterRefusesIsToldByAnAlert() throws Exception {
        edge.relay.answer(exchange -> exchange.fail(Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER, "not listed")));

        assertThat(handshake(edge, DB)).contains("access_denied");
        assertThat(edge.problems("not-allowed")).isEqualTo(1);
        await().untilAsserted(() -> assertThat(edge.open()).isZero());
    }

    @Test
    void whatDoesNotComeAboutIsToldByAnAlert() throws Exception {
        edge.relay.answer(exchange -> exchange.fail(Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "away")));

        assertThat(handshake(edge, DB)).contains("internal_error");
    }

    @Test
    void whatSpeaksNoTlsGetsNoWord() throws Exception {
        try (Socket caller = edge.connect()) {
            caller.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1));

            assertThat(caller.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(edge.problems("bad-request")).isEqualTo(1);
    }

    @Test
    void aHelloInSingleBytesIsTaken() throws Exception {
        try (Socket caller = edge.connect()) {
            caller.setTcpNoDelay(true);
            for (byte b : ClientHelloBytes.inRecords(ClientHelloBytes.real(DB), 100)) {
                caller.getOutputStream().write(b);
            }

            assertThat(edge.relay.next().request.fields().authority()).hasToString(DB);
        }
    }

    @Test
    void aHelloThatDoesNotComeInTimeIsNotWaitedFor() throws Exception {
        Duration long_ = Duration.ofSeconds(10);
        try (var impatient = new RawFixture(
                CallerLimits.defaults().within(Duration.ofMillis(100), long_, long_, long_));
                Socket silent = impatient.connect();
                Socket slow = impatient.connect()) {
            slow.getOutputStream().write(ClientHelloBytes.real(DB), 0, 20);

            assertThat(silent.getInputStream().read()).isEqualTo(-1);
            assertThat(slow.getInputStream().read()).isEqualTo(-1);
            assertThat(impatient.relay.all).isEmpty();
        }
    }

    @Test
    void eachHalfClosesAlone() throws Exception {
        try (Connected both = connected(edge)) {
            both.caller.shutdownOutput();
            both.exchange.awaitEnd();
            both.exchange.body("last words");

            assertThat(read(both.caller, 10)).isEqualTo("last words");
            both.exchange.end();
            assertThat(both.caller.getInputStream().read()).isEqualTo(-1);
        }
        try (Connected both = connected(edge)) {
            both.exchange.body("first").end();
            assertThat(read(both.caller, 6)).isEqualTo("first");
            both.caller.getOutputStream().write("second".getBytes(ISO_8859_1));
            await().until(() -> both.exchange.body().endsWith("second"));
            assertThat(both.exchange.ended).isFalse();

            both.caller.shutdownOutput();
            both.exchange.awaitEnd();
        }
        await().untilAsserted(() -> assertThat(edge.open()).isZero());
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
    }

    @Test
    void aResetOfTheCallerIsTold() throws Exception {
        try (Connected both = connected(edge)) {
            both.caller.setSoLinger(true, 0);
            both.caller.close();

            await().until(() -> both.exchange.cancelled != null);
        }
    }

    @Test
    void aResetOfTheUpstreamIsOneForTheCaller() throws Exception {
        try (Connected both = connected(edge)) {
            both.exchange.body("something");
            assertThat(read(both.caller, 9)).isEqualTo("something");
            both.exchange.fail(Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "reset"));

            assertThatThrownBy(() -> both.caller.getInputStream().read()).isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void whatCameBeforeTheUpstreamsResetIsReadBeforeIt() throws Exception {
        try (Connected both = connected(edge)) {
            both.caller.getOutputStream().write(1);
            both.exchange.request.loop()
                    .execute(() -> both.exchange.body("something")
                            .fail(Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "reset")));

            assertThat(read(both.caller, 9)).isEqualTo("something");
            assertThatThrownBy(() -> both.caller.getInputStream().read()).isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void aResetBehindTheUpstreamsEndIsOneForTheCaller() throws Exception {
        try (Connected both = connected(edge)) {
            both.exchange.body("all").end();
            assertThat(read(both.caller, 4)).isEqualTo("all");
            both.exchange.fail(Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "takes nothing more"));

            await().untilAsserted(() -> assertThatThrownBy(() -> both.caller.getOutputStream().write(1))
                    .isInstanceOf(SocketException.class));
        }
    }

    @Test
    void aCallerIsReadNoFasterThanItsUpstreamTakes() throws Exception {
        try (Connected both = connected(edge)) {
            both.exchange.eager = false;
            long before = both.exchange.receivedBytes.get();
            Thread writer = Thread.startVirtualThread(() -> {
                try {
                    both.caller.getOutputStream().write(new byte[32 << 20]);
                } catch (IOException e) {
                    // closed at the end of the test
                }
            });

            await().during(Duration.ofMillis(300))
                    .until(() -> both.exchange.receivedBytes.get() - before <= 256 << 10);
            assertThat(writer.isAlive()).isTrue();

            both.exchange.eager = true;
            both.exchange.passOn((int) (both.exchange.receivedBytes.get() - before));
            await().until(() -> both.exchange.receivedBytes.get() - before == 32 << 20);
        }
    }

    @Test
    void aCallerThatEndsIsReadNoFasterEither() throws Exception {
        try (Connected both = connected(edge)) {
            both.exchange.eager = false;
            await().until(() -> both.exchange.receivedBytes.get() > 0);
            long before = both.exchange.receivedBytes.get();
            both.caller.getOutputStream().write(new byte[1 << 20]); // less than the kernel holds
            both.caller.shutdownOutput();

            await().during(Duration.ofMillis(300))
                    .until(() -> both.exchange.receivedBytes.get() - before <= 256 << 10);
            both.exchange.eager = true;
            both.exchange.passOn((int) both.exchange.receivedBytes.get());

            both.exchange.awaitEnd();
            assertThat(both.exchange.receivedBytes.get() - before).isEqualTo(1 << 20);
        }
    }

    @Test
    void anUpstreamIsToldOnlyWhatTheCallerTook() throws Exception {
        try (Connected both = connected(edge)) {
            int bytes = 8 << 20;
            for (int i = 0; i < bytes; i += 64 << 10) {
                both.exchange.body(64 << 10);
            }
            await().during(Duration.ofMillis(200)).until(() -> both.exchange.consumed.get() < bytes);

            both.caller.getInputStream().readNBytes(bytes);

            await().until(() -> both.exchange.consumed.get() > bytes - (64 << 10));
        }
    }

    @Test
    void limitsOfTheRuntimeHold() throws Exception {
        CallerLimits usual = CallerLimits.defaults();
        try (var limited = new RawFixture(Limited.requests(usual, 1)); Socket first = limited.ask(DB)) {
            assertThat(limited.relay.next().path()).isEqualTo("null");
            assertThat(handshake(limited, DB)).contains("internal_error");
            assertThat(limited.problems("rate-limited")).isEqualTo(1);
            assertThat(first.isConnected()).isTrue();
        }
        try (var limited = new RawFixture(Limited.connections(usual, 1));
                Socket first = limited.connect();
                Socket second = limited.connect()) {
            assertThat(second.getInputStream().read()).isEqualTo(-1);
            assertThat(first.isConnected()).isTrue();
        }
    }

    @Test
    void bytesPerSecondArePaced() throws Exception {
        try (var limited = new RawFixture(
                Limited.bytes(CallerLimits.defaults(), new ByteSize(64 << 10)));
                Connected both = connected(limited)) {
            long begun = System.nanoTime();
            both.exchange.body(96 << 10).end();

            assertThat(both.caller.getInputStream().readAllBytes()).hasSize(96 << 10);

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(700));
        }
    }

    @Test
    void aDrainWaitsForConnectionsThatRun() throws Exception {
        try (Connected both = connected(edge); Socket silent = edge.connect()) {
            await().until(() -> edge.listener.connections() == 2);
            Disposable stopping = edge.listener.stop(Duration.ofSeconds(20)).subscribe();

            assertThat(silent.getInputStream().read()).isEqualTo(-1);
            both.exchange.body("still").end();
            assertThat(read(both.caller, 5)).isEqualTo("still");
            both.caller.close();
            await().until(stopping::isDisposed);
        }
    }

    @Test
    void theEndOfADrainResetsWhatIsLeft() throws Exception {
        try (Connected both = connected(edge)) {
            edge.listener.stop(Duration.ofMillis(50)).block();

            assertThatThrownBy(() -> both.caller.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(both.exchange.cancelled).isNotNull();
        }
    }
}

package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientHandshakeTest {
    private static final String SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n";
    private static final Pattern KEY = Pattern.compile("sec-websocket-key: (\\S+)", Pattern.CASE_INSENSITIVE);

    private final List<DialFailure> failures = new ArrayList<>();
    private final AtomicInteger upgraded = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final EmbeddedChannel channel = new EmbeddedChannel(new HttpClientCodec(),
            new HttpObjectAggregator(1 << 16),
            new ClientHandshake(URI.create("wss://t.example:7443/tunnel/v1"), 0,
                    opened -> upgraded.incrementAndGet(),
                    opened -> done.incrementAndGet(), failure -> failures.add((DialFailure) failure)));

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    /** The TLS handshake is over: the request that follows. */
    private String request() {
        channel.pipeline().fireUserEventTriggered(SslHandshakeCompletionEvent.SUCCESS);
        return written();
    }

    private String written() {
        channel.runPendingTasks();
        var text = new StringBuilder();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            text.append(bytes.toString(StandardCharsets.US_ASCII));
            bytes.release();
        }
        return text.toString();
    }

    private void answer(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        channel.runPendingTasks();
    }

    private static String accept(String request) {
        Matcher key = KEY.matcher(request);
        assertThat(key.find()).isTrue();
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1")
                    .digest((key.group(1) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                            .getBytes(StandardCharsets.US_ASCII));
            return Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void assertFailedOnce(String reason, boolean refused) {
        channel.close();
        channel.advanceTimeBy(1, TimeUnit.MINUTES);
        channel.runScheduledPendingTasks();
        assertThat(failures).hasSize(1);
        assertThat(failures.getFirst()).hasMessageContaining(reason);
        assertThat(failures.getFirst().isRefused()).isEqualTo(refused);
        assertThat(done).hasValue(0);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void theRequestAsksForTheTunnelsSubprotocol() {
        assertThat(request()).startsWith("GET /tunnel/v1 HTTP/1.1\r\n")
                .containsIgnoringCase("sec-websocket-protocol: culvert.v1")
                .containsIgnoringCase("sec-websocket-version: 13")
                .doesNotContainIgnoringCase("extensions");
    }

    @Test
    void theHostOfAnIpv6ServerStandsInBrackets() {
        var other = new EmbeddedChannel(new HttpClientCodec(), new HttpObjectAggregator(1 << 16),
                new ClientHandshake(URI.create("wss://[::1]:7443/tunnel/v1"), 0, opened -> {}, opened -> {},
                        failure -> {}));
        other.pipeline().fireUserEventTriggered(SslHandshakeCompletionEvent.SUCCESS);
        other.runPendingTasks();
        ByteBuf request = other.readOutbound();

        assertThat(request.toString(StandardCharsets.US_ASCII)).containsIgnoringCase("host: [::1]:7443\r\n");

        request.release();
        other.finishAndReleaseAll();
    }

    @Test
    void a101MakesATunnelAndNothingIsToldAfterwards() {
        String request = request();
        answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                + "Sec-WebSocket-Protocol: culvert.v1\r\nSec-WebSocket-Accept: " + accept(request)
                + "\r\n\r\n");

        assertThat(upgraded).hasValue(1);
        assertThat(done).hasValue(1);
        channel.advanceTimeBy(1, TimeUnit.MINUTES);
        channel.runScheduledPendingTasks();
        assertThat(channel.isOpen()).isTrue();
        channel.close();
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"401, true", "403, true", "400, false", "404, false", "409, false", "426, false",
            "500, false",
            "503, false", "200, false", "302, false"})
    void anotherAnswerIsAFailureToldOnce(int status, boolean refused) {
        request();
        answer("HTTP/1.1 " + status + " No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");

        assertFailedOnce("t.example:7443 answered " + status, refused);
        assertThat(upgraded).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource({"502, '', true", "503, '', true", "504, '', true", "503, 'Retry-After: 7\r\n', false",
            "500, '', false", "401, '', false", "404, '', false"})
    void aBalancerWithoutAServerSaysThatNobodyListens(int status, String fields, boolean absent) {
        request();
        answer("HTTP/1.1 " + status + " No\r\nContent-Length: 2\r\n" + fields + "\r\nno");

        assertThat(failures).singleElement().returns(absent, DialFailure::isAbsence);
    }

    /** A server with too many handshakes does that: it is not asked again soon. */
    @Test
    void aConnectionThatClosesBeforeTlsIsOverIsABusyServers() {
        channel.close();

        assertThat(failures).singleElement().returns(false, DialFailure::isAbsence);
    }

    @ParameterizedTest
    @CsvSource({"7, 7", "0, 0", "soon, 0", "'Fri, 31 Dec 1999 23:59:59 GMT', 0", "12345678901234567890, 0"})
    void aServersRetryAfterIsTold(String field, long seconds) {
        request();
        answer("HTTP/1.1 503 No\r\nContent-Length: 2\r\nRetry-After: " + field + "\r\n\r\nno");

        assertFailedOnce("t.example:7443 answered 503", false);
        assertThat(failures.getFirst().retryAfter()).isEqualTo(java.time.Duration.ofSeconds(seconds));
    }

    @Test
    void aProblemsDetailIsTheReason() {
        String problem = "{\"type\":\"urn:culvert:problem:unauthorized\",\"detail\":\"enrol first\"}";
        request();
        answer("HTTP/1.1 401 No\r\nContent-Length: " + problem.length() + "\r\n\r\n" + problem);

        assertFailedOnce("enrol first", true);
    }

    @Test
    void aWrongAcceptIsAFailure() {
        request();
        answer(SWITCHING + "Sec-WebSocket-Protocol: culvert.v1\r\nSec-WebSocket-Accept: x\r\n\r\n");

        assertFailedOnce("t.example:7443", false);
        assertThat(upgraded).hasValue(0);
    }

    @Test
    void anotherSubprotocolIsAFailure() {
        String request = request();
        answer(SWITCHING + "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Accept: " + accept(request)
                + "\r\n\r\n");

        assertFailedOnce("t.example:7443", false);
    }

    @Test
    void aServerThatClosesIsAFailureToldOnce() {
        request();
        channel.close();

        assertFailedOnce("closed the connection", false);
    }

    @Test
    void aServerThatDoesNotAnswerIsAFailureAfterTenSeconds() {
        channel.freezeTime();
        request();
        channel.advanceTimeBy(9_999, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(failures).isEmpty();

        channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();

        assertFailedOnce("did not answer in time", false);
    }

    @Test
    void aFailedTlsHandshakeIsAFailureToldOnce() {
        channel.pipeline().fireUserEventTriggered(new SslHandshakeCompletionEvent(new SSLException("bad")));

        assertFailedOnce("TLS: the handshake failed", false);
    }
}

package dev.culvert.relay.inbound;

import static dev.culvert.relay.testing.FrameCaller.RST_STREAM;
import static dev.culvert.relay.testing.FrameCaller.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import dev.culvert.relay.testing.FrameCaller;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests of HTTP/2 that declare a body of no bytes, and a stream that stays open: forwarded when it ends. */
class Http2EmptyBodyIT {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final EdgeFixture edge = new EdgeFixture(
            EdgeFixture.limits(LONG, Duration.ofMillis(500), LONG, LONG));
    private final FrameCaller caller = edge.http2();

    @BeforeEach
    void post() {
        caller.head(1, false, request("POST", "/empty", "content-length", "0"));
    }

    @AfterEach
    void close() {
        await().untilAsserted(() -> assertThat(edge.active()).isZero());
        caller.close();
        edge.close();
    }

    @Test
    void isForwardedWithItsLengthAtItsEnd() throws Exception {
        caller.data(1, "", false).get(3, "/other");
        Exchange other = edge.relay.next();
        assertThat(other.path()).isEqualTo("/other");
        other.ok("other");

        caller.data(1, "", true);

        Exchange empty = edge.relay.next();
        assertThat(empty.request.ended()).isTrue();
        assertThat(empty.request.fields().get("content-length")).hasToString("0");
        empty.ok("empty");
        assertThat(caller.body(3)).isEqualTo("other");
        assertThat(caller.body(1)).isEqualTo("empty");
    }

    @Test
    void withTrailersIsForwardedWithoutItsLength() throws Exception {
        caller.head(1, true, new DefaultHttp2Headers().add("x-sum", "1"));

        Exchange empty = edge.relay.next();
        empty.awaitEnd();
        assertThat(empty.request.ended()).isFalse();
        assertThat(empty.request.fields().contains("content-length")).isFalse();
        assertThat(empty.trailers).isNotNull();
        empty.ok("");
        assertThat(caller.body(1)).isEmpty();
    }

    @Test
    void withBytesIsNotForwarded() {
        caller.data(1, "GET /smuggled HTTP/1.1\r\n\r\n", true);

        assertThat(caller.head(1).status()).hasToString("400");
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void thatNeverEndsIs408() {
        assertThat(caller.head(1).status()).hasToString("408");
        assertThat(edge.relay.all).isEmpty();
        caller.number(RST_STREAM, 1, 8);
    }

    @Test
    void thatIsResetIsNotForwarded() {
        caller.number(RST_STREAM, 1, 8);

        await().untilAsserted(() -> assertThat(edge.active()).isZero());
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void withAnExpectationIsForwardedAtOnce() throws Exception {
        caller.number(RST_STREAM, 1, 8)
                .head(3, false, request("POST", "/", "content-length", "0", "expect", "100-continue"));

        Exchange asked = edge.relay.next();
        asked.informational("100");
        assertThat(caller.head(3).status()).hasToString("100");
        caller.data(3, "", true);
        asked.awaitEnd();
        asked.ok("");
    }

    @Test
    void isNoOtherBody() throws Exception {
        caller.number(RST_STREAM, 1, 8)
                .head(3, false, request("POST", "/", "content-length", "2"))
                .data(3, "hi", true);

        Exchange asked = edge.relay.next();
        asked.awaitEnd();
        assertThat(asked.request.fields().get("content-length")).hasToString("2");
        asked.ok("");
    }
}

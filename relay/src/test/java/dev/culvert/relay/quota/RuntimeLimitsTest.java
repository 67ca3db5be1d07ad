package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.inbound.EmbeddedEdge;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a caller sees of a runtime's limits, and what it costs the runtime. */
class RuntimeLimitsTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n";
    private static final String POST = "POST / HTTP/1.1\r\nHost: acme.example\r\n";

    private final EmbeddedEdge edge = new EmbeddedEdge();

    @AfterEach
    void close() {
        edge.close();
    }

    private void limit(RuntimeLimit limit, long value) {
        Map<RuntimeLimit, Long> all = new EnumMap<>(RuntimeLimit.class);
        all.putAll(edge.quotas.changed().values());
        all.put(limit, value);
        edge.quotas.change(new OwnLimits(all));
    }

    @Test
    void aRequestAboveTheRateIs429WithAHintToWaitAndTheConnectionGoesOn() {
        limit(RuntimeLimit.REQUESTS_PER_SECOND, 1);
        limit(RuntimeLimit.REQUEST_BURST, 2);
        edge.relay.answer(exchange -> exchange.ok("ok"));

        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200")
                .contains("RateLimit-Policy: \"requests\";q=2;w=2\r\n",
                        "RateLimit: \"requests\";r=1;t=1\r\n");
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200").contains("RateLimit: \"requests\";r=0;t=2\r\n");
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 429")
                .contains("rate-limited", "\"hop\":\"edge\"", "Retry-After: 1\r\n",
                        "RateLimit-Policy: \"requests\";q=2;w=2\r\n", "RateLimit: \"requests\";r=0;t=1\r\n");
        assertThat(edge.isOpen()).isTrue();
        assertThat(edge.relay.all).hasSize(2);
        assertThat(edge.usage().requests()).isEqualTo(3);
        assertThat(edge.usage().refusals(Refusal.RATE)).isEqualTo(1);
    }

    @Test
    void withoutARateNothingIsSaidOfOne() {
        edge.relay.answer(exchange -> exchange.ok("ok"));

        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200").doesNotContainIgnoringCase("ratelimit");
    }

    @Test
    void anUpstreamsOwnRateStaysBesideTheEdges() {
        limit(RuntimeLimit.REQUESTS_PER_SECOND, 5);
        edge.relay.answer(exchange -> exchange.head("200", true, "ratelimit", "\"api\";r=9"));

        assertThat(edge.send(GET)).contains("RateLimit: \"api\";r=9\r\n",
                "RateLimit: \"requests\";r=4;t=1\r\n");
    }

    @Test
    void aChangeHoldsForTheNextRequest() {
        edge.relay.answer(exchange -> exchange.ok("ok"));
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
        limit(RuntimeLimit.REQUESTS_PER_SECOND, 1);
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 429");

        edge.quotas.change(OwnLimits.NONE);

        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
    }

    @Test
    void aLengthAboveTheLimitIs413BeforeTheTunnelIsTouched() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);

        assertThat(edge.send(POST + "Content-Length: 6\r\n\r\n")).startsWith("HTTP/1.1 413")
                .contains("body-too-large", "\"hop\":\"edge\"", "Connection: close");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.usage().refusals(Refusal.BODY)).isEqualTo(1);
    }

    @Test
    void aCallerThatAsksFirstIsNotToldToSendABodyThatIsTooLong() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);

        assertThat(edge.send(POST + "Content-Length: 6\r\nExpect: 100-continue\r\n\r\n"))
                .startsWith("HTTP/1.1 413");
    }

    @Test
    void aLengthAtTheLimitPasses() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);
        edge.send(POST + "Content-Length: 5\r\n\r\nhello");

        assertThat(edge.only().body()).isEqualTo("hello");
        assertThat(edge.only().ended).isTrue();
    }

    @Test
    void aBodyThatGrowsAboveTheLimitIs413() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);
        edge.send(POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        assertThat(edge.only().cancelled).isNull();

        assertThat(edge.send("1\r\n!\r\n")).startsWith("HTTP/1.1 413").contains("Connection: close");
        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.usage().bytesIn()).isEqualTo(6);
    }

    @Test
    void aBodyThatGrowsAboveTheLimitBehindTheResponsesHeadIsReset() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);
        edge.send(POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        edge.only().head("200", false).body("a");

        edge.send("1\r\n!\r\n");

        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void aWebSocketsBytesAreNoBody() {
        limit(RuntimeLimit.MAX_BODY_BYTES, 5);
        edge.send(
                "GET / HTTP/1.1\r\nHost: acme.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
        edge.only().head("101", false);

        edge.send("a".repeat(100));

        assertThat(edge.only().receivedBytes).hasValue(100);
        assertThat(edge.isOpen()).isTrue();
    }

    @Test
    void bytesAreCountedInBothDirections() {
        edge.send(POST + "Content-Length: 5\r\n\r\nhello");
        edge.only().ok("okay");

        assertThat(edge.usage().bytesIn()).isEqualTo(5);
        assertThat(edge.usage().bytesOut()).isEqualTo(4);
    }
}

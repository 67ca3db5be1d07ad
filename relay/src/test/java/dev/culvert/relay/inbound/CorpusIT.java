package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.CorpusRun;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.SeenRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Malformed and ambiguous requests, over real sockets with TLS: each gets the documented answer, and is not forwarded. */
class CorpusIT {
    private static final RecordingRelay RELAY = new RecordingRelay();
    private static final EdgeFixture EDGE = new EdgeFixture(CallerLimits.defaults(), RELAY);

    @AfterAll
    static void stop() {
        EDGE.close();
    }

    @BeforeEach
    void forget() {
        RELAY.whole.clear();
    }

    static List<CorpusCase> cases() {
        return CorpusCase.all(System.getProperty("corpus", ""));
    }

    @Test
    void theCorpusIsWhole() {
        assertThat(cases()).hasSizeGreaterThan(500);
        assertThat(cases().stream().map(CorpusCase::toString)).doesNotHaveDuplicates();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void isAnsweredAsDocumentedAndForwardedOnlyAsItIs(CorpusCase given) {
        List<String> answers = CorpusRun.answers(given, EDGE.listener.address().port(), EdgeFixture.HOST);

        assertThat(answers).isEqualTo(CorpusRun.expected(given));
        assertThat(RELAY.whole.stream().map(SeenRequest::toString))
                .containsExactlyElementsOf(CorpusRun.upstream(given));
        assertThat(RELAY.whole).allSatisfy(CorpusIT::isFromTheGateway);
        await().pollDelay(Duration.ZERO).untilAsserted(() -> assertThat(RELAY.open).isEmpty());
    }

    /** What the gateway says itself is said once, and never in the caller's words. */
    private static void isFromTheGateway(SeenRequest seen) {
        String length = seen.own("content-length");
        assertThat(length.isEmpty() ? seen.body().length() : Integer.parseInt(length))
                .isEqualTo(seen.body().length());
        assertThat(seen.own("x-forwarded-for")).isEqualTo("127.0.0.1");
        assertThat(seen.own("x-forwarded-proto")).isEqualTo("https");
        assertThat(seen.own("x-forwarded-host")).isEqualTo(seen.own("host"));
        assertThat(seen.own("transfer-encoding")).isEmpty();
    }
}

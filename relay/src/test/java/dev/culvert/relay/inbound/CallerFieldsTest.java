package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.forwarding.CallerFields;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerFieldsTest {
    @ParameterizedTest
    @ValueSource(strings = {"culvert-caller-subject", "culvert_caller_subject", "culvert-caller_subject",
            "culvert_caller-certificate", "Culvert_Caller_Subject", "CULVERT-CALLER-CERTIFICATE",
            "culvert_webhook_id", "culvert-webhook_id", "culvert_delivery-attempt"})
    void noSpellingOfAGatewaysFieldPasses(String name) {
        for (boolean believed : new boolean[]{true, false}) {
            Http2Headers fields = new DefaultHttp2Headers(false).add(name, "root").add("x-other", "1");

            CallerFields.remove(fields, believed);

            assertThat(fields.names()).singleElement().hasToString("x-other");
        }
    }

    @Test
    void anInboxThatIsBelievedMarksItsWebhooks() {
        Http2Headers fields = new DefaultHttp2Headers(false).add("culvert-webhook-id", "1")
                .add("culvert-delivery-attempt", "2");

        CallerFields.remove(fields, true);
        assertThat(fields.size()).isEqualTo(2);

        CallerFields.remove(fields, false);
        assertThat(fields.isEmpty()).isTrue();
    }

    @Test
    void othersFieldsStay() {
        Http2Headers fields = new DefaultHttp2Headers(false).add("culvert-caller-subjects", "1")
                .add("u", "1")
                .add("culvert", "1")
                .add("multipart-whatever", "1");

        CallerFields.remove(fields, false);

        assertThat(fields.size()).isEqualTo(4);
    }

    @Test
    void theHostIsLookedUpBeforeLists() {
        try (var edge = new EmbeddedEdge()) {
            String answer = edge.send("GET / HTTP/1.1\r\nHost: stranger.example\r\nVia: 1.1 test\r\n\r\n");

            assertThat(answer).contains("unknown-host").doesNotContain("loop-detected");
        }
    }
}

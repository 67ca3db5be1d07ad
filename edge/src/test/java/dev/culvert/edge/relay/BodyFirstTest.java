package dev.culvert.edge.caller;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads whose bodies are announced: what they take before a byte of them is there. */
class BodyFirstTest {
    private static final String POST = "POST /x HTTP/1.1\r\nHost: acme.example\r\n";

    private final EmbeddedEdge edge = new EmbeddedEdge();

    @AfterEach
    void close() {
        edge.close();
    }

    @Test
    void aBodyThatDoesNotComeOpensNothing() {
        edge.send(POST + "content-length: 5\r\n\r\n");
        assertThat(edge.relay.all).isEmpty();

        edge.send("h");

        assertThat(edge.relay.all).hasSize(1);
        assertThat(edge.only().body()).isEqualTo("h");
        edge.send("ello");
        assertThat(edge.only().body()).isEqualTo("hello");
        assertThat(edge.only().ended).isTrue();
        edge.only().head("200", false, "content-length", "2").body("ok").end();
        assertThat(edge.written()).startsWith("HTTP/1.1 200").endsWith("ok");
    }

    @Test
    void aChunkedBodyMayWaitForTheAnswer() {
        edge.send(POST + "transfer-encoding: chunked\r\n\r\n");

        edge.only().head("200", false, "content-length", "2").body("ok");
        assertThat(edge.written()).startsWith("HTTP/1.1 200").endsWith("ok");
        edge.send("5\r\nhello\r\n0\r\n\r\n");
        assertThat(edge.only().body()).isEqualTo("hello");
    }

    @Test
    void aCallerThatLeavesBeforeItsBodyOpensNothing() {
        edge.send(POST + "content-length: 5\r\n\r\n");
        edge.close();

        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aCallerThatWaitsForContinueIsAsked() {
        edge.send(POST + "content-length: 5\r\nexpect: 100-continue\r\n\r\n");

        assertThat(edge.relay.all).hasSize(1);
        edge.only().informational("100");
        assertThat(edge.written()).startsWith("HTTP/1.1 100");
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/grpc+proto"})
    void callsOfGrpcGoAtOnce(String type) {
        assertThat(BodyFirst.isFor(http2().with("content-type", type).with("content-length", "5").head()))
                .isFalse();
    }

    @Test
    void withHttp2OnlyAToldLengthWaits() {
        assertThat(BodyFirst.isFor(http2().head())).isFalse();
        assertThat(BodyFirst.isFor(http2().with("content-length", "0").head())).isFalse();
        assertThat(BodyFirst.isFor(http2().with("content-length", "5").head())).isTrue();
        assertThat(BodyFirst.isFor(new EdgeRequestHead(http2().fields, "acme.example", true))).isFalse();
    }

    private record Http2(Http2Headers fields) {
        Http2 with(String name, String value) {
            fields.set(name, value);
            return this;
        }

        EdgeRequestHead head() {
            return new EdgeRequestHead(fields, "acme.example", false);
        }
    }

    private static Http2 http2() {
        return new Http2(new DefaultHttp2Headers(false).method("POST"));
    }
}

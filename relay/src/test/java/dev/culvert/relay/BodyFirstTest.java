package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads whose bodies are announced: what they open before a byte of them is there. */
class BodyFirstTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final FakeRelay relay = new FakeRelay();
    private final Answer answer = new Answer();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void aBodyThatDoesNotComeOpensNothing() {
        RequestSink sink = held();
        assertThat(relay.all).isEmpty();

        sink.data(bytes("h"));

        assertThat(relay.all).hasSize(1);
        sink.data(bytes("ello"));
        sink.end(null);
        assertThat(relay.all.getFirst().body()).isEqualTo("hello");
        assertThat(relay.all.getFirst().ended).isTrue();
    }

    @Test
    void anEndWithoutABodyOpens() {
        held().end(null);

        assertThat(relay.all.getFirst().ended).isTrue();
    }

    @Test
    void aCallerThatLeavesBeforeItsBodyOpensNothing() {
        RequestSink sink = held();

        sink.cancel(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "late"));
        ByteBuf late = bytes("x");
        sink.data(late);
        sink.end(null);

        assertThat(relay.all).isEmpty();
        assertThat(late.refCnt()).isZero();
    }

    @Test
    void aLeaverWhoseBodyHadBegunIsCancelled() {
        RequestSink sink = held();
        sink.data(bytes("x"));

        sink.cancel(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "late"));

        assertThat(relay.all.getFirst().cancelled).isNotNull();
    }

    @Test
    void bytesTakenWhileItOpensAreTold() {
        relay.answer(exchange -> exchange.head("200", false).body("answer"));
        RequestSink sink = held();
        answer.taker = sink;

        sink.data(bytes("x"));

        assertThat(relay.all.getFirst().consumed).hasValue(6);
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/grpc+proto", "Application/gRPC; x=y"})
    void callsOfGrpcGoAtOnce(String type) {
        assertThat(BodyFirst.isFor(request(Kind.HTTP, "content-type", type, "content-length", "5")))
                .isFalse();
    }

    @Test
    void onlyAToldLengthWaits() {
        assertThat(BodyFirst.isFor(request(Kind.HTTP))).isFalse();
        assertThat(BodyFirst.isFor(request(Kind.HTTP, "content-length", "0"))).isFalse();
        assertThat(BodyFirst.isFor(request(Kind.HTTP, "content-length", "5"))).isTrue();
        assertThat(BodyFirst.isFor(request(Kind.HTTP, "content-length", "5", "content-type",
                "application/grpc-web"))).isTrue();
        assertThat(BodyFirst
                .isFor(request(Kind.HTTP, "content-length", "5", "expect", "100-continue"))).isFalse();
        assertThat(BodyFirst.isFor(request(Kind.UPGRADE, "content-length", "5"))).isFalse();
        assertThat(BodyFirst.isFor(new RelayRequest(Kind.HTTP,
                new DefaultHttp2Headers(false).set("content-length", "5"), true, channel.eventLoop())))
                .isFalse();
    }

    private RequestSink held() {
        return BodyFirst.hold(relay, request(Kind.HTTP, "content-length", "5"), answer);
    }

    private RelayRequest request(Kind kind, String... fields) {
        Http2Headers head = new DefaultHttp2Headers(false).method("POST");
        for (int i = 0; i < fields.length; i += 2) {
            head.set(fields[i], fields[i + 1]);
        }
        return new RelayRequest(kind, head, false, channel.eventLoop());
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    /** Takes what is answered at once. */
    private static final class Answer implements ResponseSink {
        @Nullable
        RequestSink taker;

        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {}

        @Override
        public void data(ByteBuf body) {
            int bytes = body.readableBytes();
            body.release();
            if (taker != null) {
                taker.consumed(bytes);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {}

        @Override
        public void fail(Problem problem) {}

        @Override
        public void consumed(int bytes) {}
    }
}

package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdmittedRelayTest {
    private static final Problem REFUSED = Problem.of(Cause.NOT_ALLOWED, Hop.EDGE, "no");
    private static final Problem GONE = Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "gone");

    private final EventLoop loop = new DefaultEventLoop();
    private final List<String> told = new ArrayList<>();
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final Http2Headers fields = new DefaultHttp2Headers().method("POST").path("/x");
    private final CountDownLatch failed = new CountDownLatch(1);
    private @Nullable Verdict verdict;

    private final Admission later = (request, decision) -> {
        verdict = decision;
        return () -> told.add("given up");
    };

    private final ResponseSink response = new ResponseSink() {
        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {
            told.add("head " + head.status() + " " + head.get("content-length") + (ended ? " ended" : ""));
        }

        @Override
        public void data(ByteBuf body) {
            told.add("body " + body.toString(StandardCharsets.US_ASCII));
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            told.add("end");
        }

        @Override
        public void fail(Problem problem) {
            told.add("fail " + problem.cause().word());
            failed.countDown();
        }

        @Override
        public void consumed(int bytes) {}
    };

    private class Target implements RequestSink {
        @Override
        public void data(ByteBuf body) {
            told.add("> " + body.toString(StandardCharsets.US_ASCII));
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            told.add("> end");
        }

        @Override
        public void cancel(Problem reason) {
            told.add("> cancel");
        }

        @Override
        public void consumed(int bytes) {
            told.add("> consumed " + bytes);
        }
    }

    private RequestSink open(Admission admission, Duration deadline) {
        Relay target = (request, answer) -> {
            told.add("> open " + request.fields().get("x-user"));
            return new Target();
        };
        return new AdmittedRelay(admission, target, deadline)
                .open(new RelayRequest(RelayRequest.Kind.HTTP, fields, false, loop), response);
    }

    private RequestSink open() {
        return open(later, Duration.ofMinutes(1));
    }

    private ByteBuf text(String text) {
        ByteBuf buffer = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
        buffers.add(buffer);
        return buffer;
    }

    private Verdict verdict() {
        return Objects.requireNonNull(verdict);
    }

    private void on(Runnable action) {
        loop.submit(action).syncUninterruptibly();
    }

    @AfterEach
    void nothingLeaks() {
        assertThat(buffers).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    @Test
    void whatCameMeanwhileGoesOnInOrder() {
        on(() -> {
            RequestSink sink = open();
            sink.data(text("a"));
            sink.data(text("b"));
            sink.end(null);
            assertThat(told).isEmpty();
            verdict().pass(new DefaultHttp2Headers().set("x-user", "ann"));
            sink.consumed(3);
        });

        assertThat(told).containsExactly("> open ann", "> a", "> b", "> end", "> consumed 3");
    }

    @Test
    void whatComesWhileTheHeldBodyGoesOnStaysBehindIt() {
        on(() -> {
            RequestSink[] sink = new RequestSink[1];
            Relay eager = (request, answer) -> new Target() {
                @Override
                public void data(ByteBuf body) {
                    boolean first = body.toString(StandardCharsets.US_ASCII).equals("a");
                    super.data(body);
                    if (first) {
                        sink[0].data(text("c")); // there is room again
                        sink[0].end(null);
                    }
                }
            };
            sink[0] = new AdmittedRelay(later, eager)
                    .open(new RelayRequest(RelayRequest.Kind.HTTP, fields, false, loop), response);
            sink[0].data(text("a"));
            sink[0].data(text("b"));
            verdict().pass(null);
        });

        assertThat(told).containsExactly("> a", "> bc", "> end"); // small parts that wait are merged
    }

    @Test
    void aRefusalIsTheAnswerAndTheBodyIsDropped() {
        on(() -> {
            RequestSink sink = open();
            sink.data(text("a"));
            verdict().refuse(REFUSED);
            sink.data(text("b"));
            sink.end(null);
            verdict().pass(null);
        });

        assertThat(told).containsExactly("fail not-allowed");
    }

    @Test
    void anAnswerIsPassedOnWithItsLength() {
        on(() -> {
            open();
            verdict().answer(new DefaultHttp2Headers().status("302"),
                    "go".getBytes(StandardCharsets.US_ASCII));
        });

        assertThat(told).containsExactly("head 302 2", "body go", "end");
    }

    @Test
    void anAnswerToHeadHasNoBody() {
        fields.method("HEAD");
        on(() -> {
            open();
            verdict().answer(new DefaultHttp2Headers().status("401"),
                    "go".getBytes(StandardCharsets.US_ASCII));
        });

        assertThat(told).containsExactly("head 401 2 ended");
    }

    @Test
    void aCallerThatLeavesGivesTheDecisionUp() {
        on(() -> {
            RequestSink sink = open();
            sink.data(text("a"));
            sink.cancel(GONE);
            verdict().pass(null);
            sink.data(text("b"));
        });

        assertThat(told).containsExactly("given up");
    }

    @Test
    void afterwardsACallerThatLeavesCancelsTheRequest() {
        on(() -> {
            RequestSink sink = open();
            verdict().pass(null);
            sink.cancel(GONE);
        });

        assertThat(told).containsExactly("> open null", "> cancel");
    }

    @Test
    void whoTakesTooLongToDecideRefuses() throws Exception {
        on(() -> open(later, Duration.ofMillis(20)).data(text("a")));

        assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();
        on(() -> verdict().pass(null));
        assertThat(told).containsExactly("given up", "fail overloaded");
    }

    @Test
    void aVerdictMayComeFromAnotherThread() throws Exception {
        on(() -> open());

        verdict().refuse(REFUSED);

        assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void oneThatDecidesAtOnceIsNotAskedToStop() {
        on(() -> open((request, decision) -> {
            decision.pass(null);
            return () -> told.add("given up");
        }, Duration.ofMinutes(1)).end(null));

        assertThat(told).containsExactly("> open null", "> end");
    }
}

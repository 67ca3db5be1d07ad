package dev.culvert.relay.inbound;

import static dev.culvert.relay.testing.FrameCaller.DATA;
import static dev.culvert.relay.testing.FrameCaller.RST_STREAM;
import static dev.culvert.relay.testing.FrameCaller.WINDOW_UPDATE;
import static dev.culvert.relay.testing.FrameCaller.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.FrameCaller.Frame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Responses over HTTP/2 that break behind their heads: no caller takes one for complete. */
class BrokenOffIT {
    private static final Problem LOST = Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "100 % lost: é");

    private final EdgeFixture edge = new EdgeFixture();
    private final FrameCaller caller = edge.http2();

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        assertThat(edge.active()).isZero();
        edge.close();
    }

    private FakeRelay.Exchange answered(int stream, String type, boolean ended) throws InterruptedException {
        caller.head(stream, ended, request(ended ? "GET" : "POST", "/"));
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false, "content-type", type).body("begun");
        caller.next(DATA, stream);
        return asked;
    }

    @ParameterizedTest
    @CsvSource({"application/grpc", "application/grpc+proto", "application/grpc;charset=x"})
    void aGrpcCallEndsWithAStatusThatSaysSo(String type) throws Exception {
        answered(1, type, true).fail(LOST);

        Http2Headers trailers = caller.head(1);
        assertThat(trailers.get("grpc-status")).hasToString("14");
        assertThat(trailers.get("grpc-message")).hasToString("100 %25 lost: %C3%A9");
        caller.get(3, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(3)).isEqualTo("on");
    }

    @Test
    void aGrpcCallWhoseCallerStillSpeaksIsEndedToo() throws Exception {
        answered(1, "application/grpc", false).fail(LOST);

        assertThat(caller.head(1).get("grpc-status")).hasToString("14");
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.NO_ERROR.code());
        caller.data(1, "late", true);
        caller.get(3, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(3)).isEqualTo("on");
    }

    @ParameterizedTest
    @CsvSource({"text/plain", "application/grpc-web", "application/grpc-web+proto"})
    void anythingElseIsReset(String type) throws Exception {
        answered(1, type, true).fail(LOST);

        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.INTERNAL_ERROR.code());
    }

    @Test
    void whatCameBeforeTheFailureIsReadBeforeIt() throws Exception {
        int bytes = 100_000; // more than the caller's window
        FakeRelay.Exchange asked = answered(1, "text/plain", true);
        asked.request.loop().execute(() -> asked.body(bytes).fail(LOST));
        int read = caller.next(DATA, 1).payload().length();
        caller.number(WINDOW_UPDATE, 0, bytes).number(WINDOW_UPDATE, 1, bytes);

        Frame frame = nextOf(1);
        for (; frame.type() == DATA; frame = nextOf(1)) {
            read += frame.payload().length();
        }

        assertThat(read).isEqualTo(bytes);
        assertThat(frame.type()).isEqualTo(RST_STREAM);
    }

    private Frame nextOf(int stream) {
        return caller.next(frame -> frame.stream() == stream);
    }

    @ParameterizedTest
    @CsvSource({"text/plain", "application/grpc"})
    void anUpstreamsCancelCrosses(String type) throws Exception {
        answered(1, type, true).fail(WireProblem.UPSTREAM_CANCELLED);

        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.CANCEL.code());
    }

    @ParameterizedTest
    @CsvSource({"BODY_TOO_LARGE, 8", "UPSTREAM_RESET, 14", "DRAINING, 14", "INTERNAL, 13", "CONFLICT, 2"})
    void theStatusIsTheOneOfTheProblem(Cause cause, String status) throws Exception {
        answered(1, "application/grpc", true).fail(Problem.of(cause, Hop.EDGE, "x"));

        assertThat(caller.head(1).get("grpc-status")).hasToString(status);
    }

    @Test
    void aStopTellsGrpcCallers() throws Exception {
        FakeRelay.Exchange asked = answered(1, "application/grpc", true);

        edge.listener.stop(Duration.ZERO).block(Duration.ofSeconds(10));

        assertThat(caller.head(1).get("grpc-status")).hasToString("14");
        await().until(asked::isOver);
    }
}

package dev.culvert.inbox.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When an attempt ends, and how: its loop's clock is the test's. */
class AttemptTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final FakeRelay source = new FakeRelay();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<AttemptResult> results = new ArrayList<>();
    private @Nullable StoredAnswer answer;

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.close();
    }

    @Test
    void bytesThatAreTakenDoNotMoveTheDeadline() {
        Exchange sent = start(64);
        sent.eager = false;
        for (int second = 0; second < 14; second++) {
            pass(Duration.ofSeconds(1));
            sent.passOn(1);
        }
        assertThat(results).isEmpty();

        pass(Duration.ofSeconds(1));

        assertThat(results).containsExactly(new AttemptResult.Failed("upstream-timeout", null));
        assertThat(sent.cancelled).isNotNull();
    }

    @Test
    void informationalHeadsDoNotMoveTheDeadline() {
        Exchange sent = start(0);
        for (int second = 0; second < 15; second++) {
            sent.informational("102");
            pass(Duration.ofSeconds(1));
        }

        assertThat(results).containsExactly(new AttemptResult.Failed("upstream-timeout", null));
    }

    @Test
    void anAnswerThatDripsIsCutAndItsHeadDecides() {
        for (String status : List.of("200", "404", "500")) {
            Exchange sent = start(0);
            sent.head(status, false);
            for (int pieces = 0; pieces < 20 && sent.cancelled == null; pieces++) {
                sent.body("x");
                pass(Duration.ofMillis(500));
            }
            assertThat(sent.cancelled).as(status).isNotNull();
            assertThat(sent.consumed.get()).as(status).isLessThanOrEqualTo(4);
            assertThat(answer).as(status).isNull();
        }
        assertThat(results).containsExactly(new AttemptResult.Accepted("200"),
                new AttemptResult.Rejected("404"), new AttemptResult.Failed("500", null));
    }

    @Test
    void aHeadJustInTimeGetsNoFurtherTime() {
        Exchange sent = start(0);
        pass(TIMEOUT.minusMillis(10));
        sent.head("200", false);

        pass(Duration.ofMillis(10));

        assertThat(results).containsExactly(new AttemptResult.Accepted("200"));
    }

    @Test
    void aLongAnswerIsCutAndItsHeadDecides() {
        Exchange sent = start(0);
        sent.head("201", false).body(StoredAnswer.MAX_BODY).body(1);

        assertThat(results).containsExactly(new AttemptResult.Accepted("201"));
        assertThat(answer).isNull();
        assertThat(sent.cancelled).isNotNull();
    }

    @Test
    void anAnswerThatBreaksOffIsDecidedByItsHead() {
        Problem lost = Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost");
        start(0).head("200", false).fail(lost);
        start(0).head("410", false).fail(lost);
        start(0).head("503", false, "retry-after", "7").fail(lost);
        start(0).fail(lost);

        assertThat(results).containsExactly(new AttemptResult.Accepted("200"),
                new AttemptResult.Rejected("410"), new AttemptResult.Failed("503", Duration.ofSeconds(7)),
                new AttemptResult.Lost("tunnel-lost"));
    }

    @Test
    void aWholeAnswerGoesToTheCaller() {
        start(0).head("200", false).body("suc").body("cess").end();

        assertThat(results).containsExactly(new AttemptResult.Accepted("200"));
        assertThat(new String(Objects.requireNonNull(answer, "no answer").body(), StandardCharsets.US_ASCII))
                .isEqualTo("success");
    }

    @Test
    void aRepeatedAttemptHasTimeForItsBody() {
        assertThat(Attempt.timeout(TIMEOUT, 1, 25 << 20)).isEqualTo(TIMEOUT);
        assertThat(Attempt.timeout(TIMEOUT, 2, 1000)).isEqualTo(TIMEOUT);
        assertThat(Attempt.timeout(TIMEOUT, 2, 25 << 20)).isEqualTo(TIMEOUT.plusSeconds(100));
    }

    @Test
    void onlyTheRoutersRefusalByPolicyIsNotFinal() {
        start(0).fail(Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER, "by policy"));
        ofPod(Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER, "by policy"));
        ofPod(Problem.of(Cause.NOT_ALLOWED, Hop.UPSTREAM, "by the service"));
        start(0).head("403", false, "content-type", "application/problem+json").body("[").end();
        start(0).head("403", true);

        assertThat(results).containsExactly(new AttemptResult.Forbidden("not-allowed"),
                new AttemptResult.Forbidden("not-allowed"), new AttemptResult.Rejected("403"),
                new AttemptResult.Rejected("403"), new AttemptResult.Rejected("403"));
    }

    /** A router in its own pod answers over HTTP. */
    private void ofPod(Problem problem) {
        ProblemDocument document = ProblemDocument.of(problem, "id");
        start(0).head("403", false, "content-type", "application/problem+json")
                .body(new String(document.body(), StandardCharsets.ISO_8859_1))
                .end();
    }

    private Exchange start(int bytes) {
        var fields = new DefaultHttp2Headers(false).method("POST").path("/webhooks/a/b/");
        var content = new WebhookBody(new byte[0], new byte[bytes], null, bytes, null);
        new Attempt(channel.eventLoop(), source, fields, new Attempt.Numbered("id", 1),
                BodySource.of(content, Runnable::run), TIMEOUT.toNanos(), (result, whole) -> {
                    results.add(result);
                    answer = whole;
                }).start();
        channel.runPendingTasks();
        return source.all.getLast();
    }

    private void pass(Duration time) {
        channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        channel.runPendingTasks();
    }
}

package dev.culvert.http.problem;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProblemDocumentTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void hasTheMembersOfTheContract() throws IOException {
        var document = ProblemDocument.of(Problem.of(Cause.UNKNOWN_HOST, Hop.EDGE, "no such host"), "req-1");

        assertThat(document.status()).isEqualTo(404);
        assertThat(JSON.readTree(document.body())).isEqualTo(JSON.readTree(
                """
                        {"type":"urn:culvert:problem:unknown-host","title":"No runtime answers to this host","status":404,
                         "detail":"no such host","hop":"edge","requestId":"req-1"}"""));
    }

    @Test
    void escapesWhatACallerMayHaveSent() throws IOException {
        String nasty = "\"},\n\\<script>\u0000\u2028";

        JsonNode json = JSON
                .readTree(ProblemDocument.of(Problem.of(Cause.BAD_REQUEST, Hop.ROUTER, nasty), nasty).body());

        assertThat(json.get("detail").textValue()).isEqualTo(nasty);
        assertThat(json.get("requestId").textValue()).isEqualTo(nasty);
    }

    @Test
    void saysInWholeSecondsHowLongToWait() {
        Problem problem = Problem.of(Cause.OVERLOADED, Hop.TUNNEL, "full")
                .retryAfter(Duration.ofMillis(1200));

        var document = ProblemDocument.of(problem, "r");

        assertThat(document.status()).isEqualTo(503);
        assertThat(document.fields()).contains(new ProblemDocument.Field("retry-after", "2"),
                new ProblemDocument.Field("content-type", "application/problem+json"));
    }

    @Test
    void givesTheRelayPlaneItsFieldsInLowerCase() {
        var document = ProblemDocument.of(Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "gone"), "r");

        assertThat(document.fields()).extracting(ProblemDocument.Field::name)
                .containsExactly("content-type",
                        "content-length", "cache-control");
        assertThat(document.fields().get(1).value()).isEqualTo(Integer.toString(document.body().length));
    }
}

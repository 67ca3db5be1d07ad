package dev.culvert.http.problem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProblemPageTest {
    private static final String HTML = "text/html";

    private static String page(Problem problem, String id) {
        return new String(ProblemDocument.of(problem, id, HTML).body(), StandardCharsets.UTF_8);
    }

    @Test
    void saysWhatTheJsonSaysAndMarksTheGuiltyHop() {
        String page = page(Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "the runtime is not connected")
                .retryAfter(Duration.ofSeconds(5)), "id-7");

        assertThat(page).contains("<h1>503 The runtime is not connected</h1>",
                "<p>the runtime is not connected</p>",
                "You → edge → <strong title=\"failed here\">tunnel</strong> → router → service",
                "urn:culvert:problem:no-tunnel", "Request id-7", "Try again in 5 s.");
    }

    @Test
    void escapesWhatCallersAndUpstreamsSay() {
        String nasty = "<script>alert(\"1\")</script>&'";

        String page = page(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, nasty), nasty);

        assertThat(page).doesNotContain("<script")
                .contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;");
    }

    @Test
    void loadsNothingAndIsAllowedNothing() {
        ProblemDocument document = ProblemDocument.of(Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "no"), "id",
                HTML);

        assertThat(document.fields()).contains(new Field("content-type", "text/html; charset=utf-8"),
                new Field("content-length", Integer.toString(document.body().length)),
                new Field("cache-control", "no-store"));
        assertThat(document.fields()).filteredOn(field -> field.name().equals("content-security-policy"))
                .singleElement()
                .satisfies(field -> assertThat(field.value())
                        .startsWith("default-src 'none'; style-src 'sha256-")
                        .doesNotContain("unsafe"));
        assertThat(page(Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "no"), "id")).doesNotContain("http:", "https:",
                "src=", "href=");
    }

    @Test
    void whoDoesNotAskForHtmlGetsJson() {
        assertThat(ProblemDocument.of(Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "no"), "id", "*/*").fields())
                .contains(new Field("content-type", "application/problem+json"))
                .extracting(Field::name)
                .doesNotContain("content-security-policy");
    }
}

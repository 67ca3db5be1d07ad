package dev.culvert.server.page.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ProblemGuideTest {
    private static String text(ProblemGuide.Section section) {
        return section.paragraphs()
                .stream()
                .flatMap(paragraph -> paragraph.stream())
                .map(piece -> piece.isCode() ? "{" + piece.text() + "}" : piece.text())
                .collect(Collectors.joining());
    }

    @Test
    void everyCauseIsExplained() {
        ProblemGuide guide = ProblemGuide.load();

        assertThat(guide.sections()).extracting(ProblemGuide.Section::word)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Cause.values()).map(Cause::word).toList());
        assertThat(guide.sections()).allSatisfy(section -> assertThat(text(section)).as(section.word())
                .hasSizeGreaterThan(30)
                .doesNotContain("](", "`", "\n", "|"));
        assertThat(text(guide.of("no-tunnel"))).contains(
                "503, tunnel. The runtime's client is not connected.",
                "{/readyz}");
    }

    @Test
    void linksAreTextAndCodeIsMarked() {
        ProblemGuide guide = ProblemGuide.parse(
                "# Problems\n\nintro\n\n## no-route\n404. See\n[routing](routing.md#a) and `x`.\n\nMore.\n\n## other\nx\n");

        assertThat(guide.sections()).hasSize(1);
        assertThat(guide.of("no-route").paragraphs()).hasSize(2);
        assertThat(text(guide.of("no-route"))).isEqualTo("404. See routing and {x}.More.");
        assertThat(guide.of("other").paragraphs()).isEmpty();
    }
}

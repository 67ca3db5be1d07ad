package dev.culvert.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.edge.Problem.Cause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/problems.md against the code. */
class ProblemsPageTest {
    private static final Path PAGE = Path.of("..", "docs", "problems.md");

    @ParameterizedTest
    @EnumSource(Cause.class)
    void everyCauseHasItsSectionWithItsStatus(Cause cause) throws IOException {
        assertThat(Files.readString(PAGE)).contains("\n## " + cause.word() + "\n" + cause.status() + ", ");
    }

    @Test
    void noSectionIsLeftOver() throws IOException {
        List<String> sections = Files.readAllLines(PAGE)
                .stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3))
                .toList();

        assertThat(sections).containsExactlyInAnyOrderElementsOf(
                Arrays.stream(Cause.values()).map(Cause::word).toList());
    }
}

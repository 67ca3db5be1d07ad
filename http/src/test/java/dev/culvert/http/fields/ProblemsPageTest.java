package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/problems.md against the code. */
class ProblemsPageTest {
    private static final Path PAGE = Path.of("..", "docs", "problems.md");
    private static final Pattern MADE = Pattern.compile("Cause\\.([A-Z_]+),\\s*Hop\\.([A-Z]+)");

    @ParameterizedTest
    @EnumSource(Cause.class)
    void everyCauseHasItsSectionWithItsStatus(Cause cause) throws IOException {
        assertThat(Files.readString(PAGE)).contains("\n## " + cause.word() + "\n" + cause.status() + ", ");
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void everySectionSaysWhichHopsNoticeIt(Cause cause) throws IOException {
        assertThat(Files.readString(PAGE)).containsPattern("\n## " + cause.word() + "\n" + cause.status()
                + ", (any hop|(edge|tunnel|router|upstream)((, | or )(edge|tunnel|router|upstream))*)\\. ");
    }

    @Test
    void theHopsOfEachSectionAreThoseOfTheCode() throws IOException {
        String page = Files.readString(PAGE);
        List<String> missing = new ArrayList<>();
        for (Path source : sources()) {
            Matcher made = MADE.matcher(Files.readString(source));
            while (made.find()) {
                Cause cause = Cause.valueOf(made.group(1));
                String hop = made.group(2).toLowerCase(Locale.ROOT);
                Matcher section = Pattern.compile("\n## " + cause.word() + "\n[0-9]{3}, ([^.]*)\\.")
                        .matcher(page);
                if (!section.find() || !section.group(1).matches("(?s)any hop|.*\\b" + hop + "\\b.*")) {
                    missing.add(cause.word() + " by " + hop + " in " + source.getFileName());
                }
            }
        }

        assertThat(missing).isEmpty();
    }

    /** The code of all parts, as far as it is there. */
    private static List<Path> sources() throws IOException {
        List<Path> all = new ArrayList<>();
        for (String module : List.of("http", "relay", "handlers", "inbox", "request-router/routing",
                "request-router", "tunnel-client", "tunnel-server", "app-proxy")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
            }
        }
        return all;
    }

    @Test
    void noSectionIsLeftOver() throws IOException {
        List<String> sections = Files.readAllLines(PAGE)
                .stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3))
                .filter(title -> !Character.isUpperCase(title.charAt(0))) // prose
                .toList();

        assertThat(sections).containsExactlyInAnyOrderElementsOf(
                Arrays.stream(Cause.values()).map(Cause::word).toList());
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Names and phrases that were replaced by the field's own words do not come back. */
class HouseWordsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern OLD_NAMES = Pattern.compile("\\b(OneAtATime|InTurn|Openings|Entrances"
            + "|CallersAsked|GoneCaller|KeptBody|HeldBytes|TimesSpent|BodyPatience|TunnelDoor|Tenure"
            + "|Settlement|Lanes|Nudges|Vocabulary|HangUp|PortTrouble|LengthOfTime|Arrivals|Answerer)\\b");
    private static final Pattern OLD_PHRASES = Pattern.compile(
            "may everything|run failed|gave no new one|\\bso many\\b|\\bis told\\b",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern LONG_COMMENT = Pattern.compile("^(?=.{111})\\s*(\\* [^ {]|// |/\\*\\* ).*");

    @Test
    void noMainCodeHasAnOldName() throws IOException {
        assertThat(found(HouseWordsTest::isMainCode, OLD_NAMES)).isEmpty();
    }

    @Test
    void noMainCodeHasAnOldPhrase() throws IOException {
        assertThat(found(HouseWordsTest::isMainCode, OLD_PHRASES)).isEmpty();
    }

    @Test
    void noDocumentHasAnOldName() throws IOException {
        assertThat(found(HouseWordsTest::isDocument, OLD_NAMES)).isEmpty();
    }

    /** Drawings and examples, whose lines begin with more than one blank or with a brace, are as wide as they need. */
    @Test
    void commentsAreAtMost110ColumnsWide() throws IOException {
        assertThat(found(HouseWordsTest::isMainCode, LONG_COMMENT)).isEmpty();
    }

    private static List<String> found(Predicate<Path> which, Pattern pattern) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files(which)) {
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (pattern.matcher(lines.get(i)).find()) {
                    found.add(ROOT.relativize(file) + ":" + (i + 1) + ": " + lines.get(i).strip());
                }
            }
        }
        return found;
    }

    private static List<Path> files(Predicate<Path> which) throws IOException {
        try (Stream<Path> all = Files.walk(ROOT)) {
            return all.filter(file -> !file.toString().contains("/target/")).filter(which).toList();
        }
    }

    private static boolean isMainCode(Path file) {
        return file.toString().contains("/src/main/java/") && file.toString().endsWith(".java");
    }

    private static boolean isDocument(Path file) {
        return file.toString().endsWith(".md");
    }
}

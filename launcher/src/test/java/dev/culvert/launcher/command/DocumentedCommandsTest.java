package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What README.md and the other documents say to type is understood. e2e/scripts/first_url.py runs README's. */
class DocumentedCommandsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern BLOCK = Pattern.compile("^```sh\\n(.*?)^```$",
            Pattern.MULTILINE | Pattern.DOTALL);
    /** To its end, or to what the shell does with it. */
    private static final Pattern COMMAND = Pattern
            .compile("(?:^|[;&|(] *)(?:\\./)?culvert +((?:'[^']*'|\"[^\"]*\"|[^'\"\\n;&|<>#()])*)",
                    Pattern.MULTILINE);
    private static final Pattern WORD = Pattern.compile("(?:'[^']*'|\"[^\"]*\"|\\S)+");
    /** It has a command line of its own, with its own tests. */
    private static final String HARNESS = "bench";

    @Test
    void commandsOfTheDocumentsAreUnderstood() throws IOException {
        List<String> commands = new ArrayList<>();
        try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
            for (Path page : Stream.concat(Stream.of(ROOT.resolve("README.md")), pages)
                    .filter(each -> each.toString().endsWith(".md"))
                    .toList()) {
                BLOCK.matcher(Files.readString(page)).results().forEach(block -> {
                    String text = block.group(1).replace("\\\n", " ");
                    COMMAND.matcher(text)
                            .results()
                            .map(found -> found.group(1).strip())
                            .filter(command -> !command.startsWith(HARNESS))
                            .peek(commands::add)
                            .forEach(command -> understood(page, command));
                });
            }
        }
        assertThat(commands).contains("demo", "http 3000").hasSizeGreaterThan(30);
    }

    private static void understood(Path page, String command) {
        String[] words = WORD.matcher(command)
                .results()
                .map(MatchResult::group)
                .map(word -> word.replaceAll("['\"]", ""))
                .toArray(String[]::new);
        assertThatCode(() -> {
            String[] spelled = CulvertCommand.spelledOut(words);
            CommandLine line = CulvertCommand.commandLine(spelled);
            line.parseArgs(spelled);
        }).as(page + ": " + command).doesNotThrowAnyException();
    }
}

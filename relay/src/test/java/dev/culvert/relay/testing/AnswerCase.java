package dev.culvert.relay.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * One case of the corpus of ambiguous responses: the folder {@code src/test/resources/answers}, whose README tells the
 * form.
 *
 * @param file where it stands
 * @param name what it is about, with its version
 * @param expect {@code 502}, {@code cut} or {@code whole}
 * @param method of the request
 * @param bytes what the upstream sends, a character each
 */
public record AnswerCase(String file, String name, String expect, String method, String bytes) {
    private static final Path FOLDER = Path.of("..", "relay", "src", "test", "resources", "answers");

    /** All cases, in each version that they have. */
    public static List<AnswerCase> all() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .flatMap(AnswerCase::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<AnswerCase> read(Path file) {
        try {
            return Arrays.stream(("\n" + Files.readString(file)).split("\n## ", -1))
                    .skip(1)
                    .flatMap(text -> parse(file.getFileName().toString(), text.lines().toList()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<AnswerCase> parse(String file, List<String> text) {
        int start = text.indexOf("---");
        String lines = String.join("", text.subList(start + 1, text.size()));
        Stream<String> versions = lines.contains("{v}") ? Stream.of("1.0", "1.1") : Stream.of("");
        return versions.map(version -> new AnswerCase(file, (text.getFirst() + " " + version).strip(),
                key(text.subList(1, start), "expect"), key(text.subList(1, start), "method"),
                CorpusCase.text(lines.replace("{v}", version))));
    }

    private static String key(List<String> keys, String key) {
        return keys.stream()
                .filter(line -> line.startsWith(key + ": "))
                .map(line -> line.substring(key.length() + 2))
                .findFirst()
                .orElse("GET");
    }

    @Override
    public String toString() {
        return file + ": " + name;
    }
}

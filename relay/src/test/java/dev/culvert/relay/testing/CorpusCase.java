package dev.culvert.relay.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One case of the corpus of malformed and ambiguous requests: the folder {@code src/test/resources/corpus}, whose README
 * tells the form.
 *
 * @param file where it stands
 * @param name what it is about
 * @param source the public fault that it repeats, as an identifier or a section of an RFC; empty: none
 * @param answers each as {@code 400 bad-request}, {@code 200}, {@code reset CODE} or {@code goaway CODE}
 * @param routed the answers where a router with a route stands behind the edge, if they are others
 * @param open whether another request is served behind it
 * @param upstream the requests that reach an upstream whole, as {@link SeenRequest#toString}
 * @param lines what the caller sends
 */
public record CorpusCase(String file, String name, String source, List<String> answers,
        @Nullable List<String> routed, boolean open, List<String> upstream, List<String> lines) {
    private static final Path FOLDER = Path.of("..", "relay", "src", "test", "resources", "corpus");

    /** All cases of the files whose names begin so. */
    public static List<CorpusCase> all(String prefix) {
        return all(FOLDER, prefix);
    }

    /** All cases of the files of another folder whose names begin so. */
    public static List<CorpusCase> all(Path folder, String prefix) {
        try (Stream<Path> files = Files.list(folder)) {
            return files
                    .filter(file -> file.toString().endsWith(".txt")
                            && file.getFileName().toString().startsWith(prefix))
                    .sorted()
                    .flatMap(file -> read(file).stream())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<CorpusCase> read(Path file) {
        String name = file.getFileName().toString();
        try {
            List<CorpusCase> cases = Arrays.stream(("\n" + Files.readString(file)).split("\n## ", -1))
                    .skip(1)
                    .map(text -> parse(name, text.lines().toList()))
                    .toList();
            if (cases.isEmpty()) {
                throw new IllegalStateException("no case in " + file);
            }
            return cases;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static CorpusCase parse(String file, List<String> text) {
        int start = text.indexOf("---");
        Map<String, String> keys = new TreeMap<>();
        List<SeenRequest> upstream = new ArrayList<>();
        for (String line : text.subList(1, start)) {
            int colon = line.indexOf(": ");
            String key = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 2);
            switch (key) {
                case "expect", "routed", "source" -> keys.put(key, value);
                case "upstream" -> upstream.add(SeenRequest.of(value));
                case "field" -> upstream.getLast().field(text(value));
                case "body" -> upstream.getLast().body(text(value));
                case "trailer" -> upstream.getLast().trailer(text(value));
                default -> throw new IllegalStateException(file + ": " + line);
            }
        }
        String expect = keys.getOrDefault("expect", "");
        String routed = keys.get("routed");
        boolean open = expect.endsWith(" open");
        if (!open && !expect.endsWith(" close")) {
            throw new IllegalStateException(file + ": " + text.getFirst() + " neither open nor close");
        }
        return new CorpusCase(file, text.getFirst(), keys.getOrDefault("source", ""), answers(expect),
                routed == null ? null : List.of(routed.split(", ")),
                open, upstream.stream().map(SeenRequest::toString).toList(),
                text.subList(start + 1, text.size()).stream().filter(line -> !line.isBlank()).toList());
    }

    private static List<String> answers(String expect) {
        String answers = expect.substring(0, expect.lastIndexOf(' '));
        return answers.equals("nothing") ? List.of() : List.of(answers.split(", "));
    }

    /** The bytes, a character each, for the runtime that has this host. */
    public String bytes(String host) {
        return text(String.join("", lines).replace("{host}", host));
    }

    /** What a line stands for: {@code \r \n \t \0 \\ \xNN}, and {@code {x*3}} for xxx. */
    public static String text(String line) {
        var out = new StringBuilder();
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            int end = c == '{' ? line.indexOf('}', i) : -1;
            int star = end < 0 ? -1 : line.lastIndexOf('*', end);
            if (star > i) {
                out.append(text(line.substring(i + 1, star))
                        .repeat(Integer.parseInt(line.substring(star + 1, end))));
                i = end;
            } else if (c != '\\') {
                out.append(c);
            } else if (line.charAt(i + 1) == 'x') {
                out.append((char) Integer.parseInt(line.substring(i + 2, i + 4), 16));
                i += 3;
            } else {
                i++;
                out.append("\r\n\t\0\\".charAt("rnt0\\".indexOf(line.charAt(i))));
            }
        }
        return out.toString();
    }

    @Override
    public String toString() {
        return file + ": " + name;
    }
}

package dev.culvert.server.page.request;

import dev.culvert.http.problem.Problem.Cause;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What problems mean and what to do: the sections of docs/problems.md, which the build copies into this jar.
 *
 * @param sections the sections in the order of the page
 */
public record ProblemGuide(List<Section> sections) {
    private static final Pattern SECTION = Pattern.compile("(?m)^## ");
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");
    private static final Pattern CODE = Pattern.compile("`([^`]*)`");
    private static final Pattern EMPTY_LINE = Pattern.compile("\\n\\s*\\n");

    /**
     * A cause.
     *
     * @param word the cause
     * @param title its short summary
     * @param paragraphs what it means, and what to do
     */
    public record Section(String word, String title, List<List<Piece>> paragraphs) {
        /** The path of this section on the page of all problems. */
        public String path() {
            return "/problems#" + word;
        }
    }

    /** A piece of a paragraph. */
    public record Piece(String text, boolean isCode) {}

    /** Reads the sections. Blocks. */
    static ProblemGuide load() {
        try (var page = ProblemGuide.class.getResourceAsStream("problems.md")) {
            if (page == null) {
                throw new IOException("the jar has no problems.md");
            }
            return parse(new String(page.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ProblemGuide parse(String page) {
        Map<String, String> titles = new HashMap<>();
        for (Cause cause : Cause.values()) {
            titles.put(cause.word(), cause.title());
        }
        List<Section> sections = new ArrayList<>();
        for (String section : List.of(SECTION.split(page))) {
            int end = section.indexOf('\n');
            String word = section.substring(0, Math.max(0, end)).strip();
            String title = titles.get(word);
            if (title != null) {
                sections.add(new Section(word, title, paragraphs(section.substring(end))));
            }
        }
        return new ProblemGuide(List.copyOf(sections));
    }

    /** The section of a cause; without paragraphs if there is none. */
    Section of(String cause) {
        return sections.stream()
                .filter(section -> section.word.equals(cause))
                .findFirst()
                .orElseGet(() -> new Section(cause, cause, List.of()));
    }

    private static List<List<Piece>> paragraphs(String text) {
        List<List<Piece>> paragraphs = new ArrayList<>();
        for (String each : List.of(EMPTY_LINE.split(text.strip()))) {
            paragraphs.add(pieces(LINK.matcher(each.replace('\n', ' ')).replaceAll("$1")));
        }
        return List.copyOf(paragraphs);
    }

    private static List<Piece> pieces(String text) {
        List<Piece> pieces = new ArrayList<>();
        Matcher code = CODE.matcher(text);
        int at = 0;
        while (code.find()) {
            pieces.add(new Piece(text.substring(at, code.start()), false));
            pieces.add(new Piece(code.group(1), true));
            at = code.end();
        }
        pieces.add(new Piece(text.substring(at), false));
        return List.copyOf(pieces);
    }
}

package dev.culvert.router;

import dev.culvert.edge.config.ConfigException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A route's path: literal segments and variables. Matches raw targets, segment by segment, and decodes nothing. */
final class PathPattern {
    static final String NAMESPACE = "{namespace}";
    static final String EVENT_SOURCE = "{eventSource}";
    private static final Set<String> VARIABLES = Set.of(NAMESPACE, EVENT_SOURCE);
    private static final String EXPECTED = "a path as /x/ or /webhooks/{namespace}/{eventSource}/: slash at both ends, "
            + "no empty, dot or encoded segment, {namespace} and {eventSource} once each or not at all";
    /** RFC 3986 §3.3 without escapes: what is matched raw must be written raw. */
    private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9._~!$&'()*+,;=:@-]+");

    /** Literal before variable, segment by segment, then the longer path. */
    static final Comparator<PathPattern> MOST_SPECIFIC_FIRST = Comparator.comparing(PathPattern::kinds);

    private final List<Segment> segments;

    private PathPattern(List<Segment> segments) {
        this.segments = segments;
    }

    /** Reads a path. Throws ConfigException for the key {@code path}. */
    static PathPattern parse(String path) {
        if (path.equals("/")) {
            return new PathPattern(List.of());
        }
        if (path.length() < 3 || !path.startsWith("/") || !path.endsWith("/")) {
            throw new ConfigException("path", EXPECTED);
        }
        List<String> segments = Arrays.asList(path.substring(1, path.length() - 1).split("/", -1));
        Set<String> variables = new HashSet<>();
        for (String segment : segments) {
            boolean fits = VARIABLES.contains(segment)
                    ? variables.add(segment)
                    : LITERAL.matcher(segment).matches() && !segment.equals(".") && !segment.equals("..");
            if (!fits) {
                throw new ConfigException("path", EXPECTED);
            }
        }
        if (variables.size() == 1) {
            throw new ConfigException("path", EXPECTED);
        }
        return new PathPattern(
                segments.stream().map(text -> new Segment(text, VARIABLES.contains(text))).toList());
    }

    boolean hasVariables() {
        return segments.stream().anyMatch(Segment::variable);
    }

    /** The same for paths that match the same targets. */
    String shape() {
        return segments.stream()
                .map(segment -> segment.variable ? "{}" : segment.text)
                .reduce("/", (left, right) -> left + right + "/");
    }

    /** A for a literal, B for a variable, C at the end: compares as routes do. */
    private String kinds() {
        StringBuilder kinds = new StringBuilder();
        segments.forEach(segment -> kinds.append(segment.variable ? 'B' : 'A'));
        return kinds.append('C').toString();
    }

    /**
     * Matches the beginning of a raw path.
     *
     * @return where the rest begins: at a slash, or at the path's end; -1: no match. A variable matches any segment,
     *     an empty one too unless nothing follows it
     */
    int match(String path) {
        int at = 0;
        for (Segment segment : segments) {
            if (at >= path.length() || path.charAt(at) != '/') {
                return -1;
            }
            int end = end(path, at + 1);
            if (!segment.matches(path, at + 1, end)) {
                return -1;
            }
            at = end;
        }
        return at == path.length() || path.charAt(at) == '/' ? at : -1;
    }

    /** The raw segment of a matched path that stands at a variable, or null when the pattern has none of that name. */
    @Nullable
    String value(String path, String variable) {
        int index = segments.indexOf(new Segment(variable, true));
        if (index < 0) {
            return null;
        }
        int at = 0;
        for (int i = 0; i < index; i++) {
            at = end(path, at + 1);
        }
        return path.substring(at + 1, end(path, at + 1));
    }

    private static int end(String path, int from) {
        int slash = path.indexOf('/', from);
        return slash < 0 ? path.length() : slash;
    }

    private record Segment(String text, boolean variable) {
        boolean matches(String path, int begin, int end) {
            return variable
                    ? begin < path.length()
                    : end - begin == text.length() && path.startsWith(text, begin);
        }
    }
}

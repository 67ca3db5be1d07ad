package dev.culvert.http.path;

import dev.culvert.config.ConfigException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A route's path: literal segments and variables. Matches raw targets, segment by segment, and decodes
 * nothing. Immutable.
 */
public final class PathPattern {
    /**
     * The variable of a Kubernetes namespace. A pattern has it if and only if it has {@link #EVENT_SOURCE}.
     */
    public static final String NAMESPACE = "namespace";
    /** The variable of an event source. */
    public static final String EVENT_SOURCE = "eventSource";

    /** Deeper than any API. Each segment is one step of the search. */
    private static final int MAX_SEGMENTS = 32;
    private static final int MAX_LENGTH = 1024;
    private static final String EXPECTED = "a path as /x/ or /webhooks/{namespace}/{eventSource}/: slash at both ends, "
            + "at most " + MAX_SEGMENTS
            + " segments, no empty, dot or encoded one; a variable is a whole segment, "
            + "each name once, {namespace} and {eventSource} both or neither";
    /** RFC 3986 §3.3 without escapes: patterns match raw paths, so they are written raw. */
    private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9._~!$&'()*+,;=:@-]+");
    private static final Pattern VARIABLE = Pattern.compile("\\{[a-zA-Z][a-zA-Z0-9]{0,31}}");

    private final String text;
    private final List<Segment> segments;
    /**
     * The kinds of the segments: A for a literal, B for a variable, C at the end. The pattern that sorts
     * first wins.
     */
    private final String kinds;

    private PathPattern(String text, List<Segment> segments) {
        this.text = text;
        this.segments = segments;
        this.kinds = segments.stream()
                .map(segment -> segment.variable ? "B" : "A")
                .collect(Collectors.joining("", "", "C"));
    }

    /** Parses a pattern. Throws ConfigException for the key {@code path}. */
    public static PathPattern parse(String path) {
        if (path.equals("/")) {
            return new PathPattern(path, List.of());
        }
        if (path.length() < 3 || path.length() > MAX_LENGTH || !path.startsWith("/") || !path.endsWith("/")) {
            throw new ConfigException("path", EXPECTED);
        }
        List<Segment> segments = Arrays.stream(path.substring(1, path.length() - 1).split("/", -1))
                .map(PathPattern::segment)
                .toList();
        List<String> variables = segments.stream().filter(Segment::variable).map(Segment::text).toList();
        if (segments.size() > MAX_SEGMENTS || variables.stream().distinct().count() < variables.size()
                || variables.contains(NAMESPACE) != variables.contains(EVENT_SOURCE)) {
            throw new ConfigException("path", EXPECTED);
        }
        return new PathPattern(path, segments);
    }

    private static Segment segment(String text) {
        if (VARIABLE.matcher(text).matches()) {
            return new Segment(text.substring(1, text.length() - 1), true);
        }
        if (!LITERAL.matcher(text).matches() || text.equals(".") || text.equals("..")) {
            throw new ConfigException("path", EXPECTED);
        }
        return new Segment(text, false);
    }

    /** The names of its variables, in order. */
    public List<String> variables() {
        return segments.stream().filter(Segment::variable).map(Segment::text).toList();
    }

    /** Whether it has {@code {namespace}} and {@code {eventSource}}, so that it matches webhooks. */
    public boolean isOfWebhooks() {
        return segments.contains(new Segment(NAMESPACE, true));
    }

    /** A text that is equal for patterns that match the same targets. */
    public String shape() {
        return segments.stream()
                .map(segment -> (segment.variable ? "{}" : segment.text) + "/")
                .collect(Collectors.joining("", "/", ""));
    }

    /** Whether both patterns match some target for which {@code other} does not win by its path alone. */
    public boolean mayTakeFrom(PathPattern other) {
        if (kinds.compareTo(other.kinds) > 0) {
            return false;
        }
        for (int i = 0; i < Math.min(segments.size(), other.segments.size()); i++) {
            Segment mine = segments.get(i);
            Segment theirs = other.segments.get(i);
            if (!mine.variable && !theirs.variable && !mine.text.equals(theirs.text)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Matches the beginning of a raw path.
     *
     * @return the index of the rest, which is a slash or the end of the path; -1 if the path does not match.
     *     A variable matches any segment, also an empty one unless it is the last
     */
    public int match(String path) {
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

    /** Whether the leading segments of {@code path} match this pattern. */
    public boolean matches(List<String> path) {
        if (path.size() < segments.size()) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (!segment.variable && !segment.text.equals(path.get(i))) {
                return false;
            }
        }
        return true;
    }

    /**
     * The raw segment of a matched path at a variable, or null if the pattern has no variable of that name.
     */
    public @Nullable String value(String path, String variable) {
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

    public List<Segment> segments() {
        return segments;
    }

    /** The index of the end of the segment that begins at {@code from}. */
    public static int end(String path, int from) {
        int slash = path.indexOf('/', from);
        return slash < 0 ? path.length() : slash;
    }

    /** The pattern as configured. */
    @Override
    public String toString() {
        return text;
    }

    /**
     * One segment of a pattern.
     *
     * @param text the literal text, or the name of the variable
     */
    public record Segment(String text, boolean variable) {
        boolean matches(String path, int begin, int end) {
            return variable
                    ? begin < path.length()
                    : end - begin == text.length() && path.startsWith(text, begin);
        }
    }
}

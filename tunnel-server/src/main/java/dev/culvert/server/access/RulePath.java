package dev.culvert.server.access;

import java.util.ArrayList;
import java.util.List;

/**
 * The path of a rule: plain segments with only one reading.
 *
 * @param segments the segments; none for {@code /}
 */
record RulePath(List<String> segments) {
    private static final int MAX_CHARS = 1024;
    /**
     * The marks allowed in a segment (RFC 3986 §3.3), without escapes, and without semicolons, at which some
     * servers cut.
     */
    private static final String MARKS = "-._~!$&'()*+,=:@";

    static final String EXPECTED = "a path as /admin/, of at most " + MAX_CHARS
            + " characters, without escapes, semicolons, empty segments and dot segments";

    RulePath {
        segments = List.copyOf(segments);
    }

    /** Throws IllegalArgumentException with the expected form. */
    static RulePath of(String path) {
        if (!path.startsWith("/") || path.length() > MAX_CHARS) {
            throw new IllegalArgumentException(EXPECTED);
        }
        List<String> segments = new ArrayList<>();
        String inner = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        for (String segment : inner.isEmpty() ? new String[0] : inner.substring(1).split("/", -1)) {
            if (!isPlain(segment)) {
                throw new IllegalArgumentException(EXPECTED);
            }
            segments.add(segment);
        }
        return new RulePath(segments);
    }

    private static boolean isPlain(String segment) {
        boolean plain = !segment.isEmpty() && !segment.equals(".") && !segment.equals("..");
        for (int i = 0; i < segment.length(); i++) {
            char c = segment.charAt(i);
            plain &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                    || MARKS.indexOf(c) >= 0;
        }
        return plain;
    }

    /** Whether a path with these segments is this path or below it. */
    boolean covers(List<String> path) {
        return path.size() >= segments.size() && path.subList(0, segments.size()).equals(segments);
    }
}

package dev.culvert.http.path;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * One way in which a server may read a raw path: decoded so many times; {@code ;parameters} dropped, before or after that,
 * or kept; cut where a decoded {@code ?}, {@code #} or NUL stands, or not; backslashes taken for slashes, or not. Immutable.
 *
 * @param text as that server would have it
 * @param segments of it, without the empty ones
 */
public record PathReading(String text, List<String> segments) {
    /** An upstream behind two gateways may decode as often. */
    private static final int DECODINGS = 3;
    /** Ordinary paths have one to ten; every rule looks at each. */
    private static final int MOST = 32;

    public PathReading {
        segments = List.copyOf(segments);
    }

    private static PathReading of(String text) {
        return new PathReading(text,
                Arrays.stream(text.split("/", -1)).filter(segment -> !segment.isEmpty()).toList());
    }

    /** All ways to read a raw path, the plain one first; empty: some climb with dot segments, or there are too many. */
    public static List<PathReading> all(String path) {
        Set<String> texts = new LinkedHashSet<>();
        List<String> toRead = List.of(path);
        for (int decoded = 0; decoded <= DECODINGS && !toRead.isEmpty(); decoded++) {
            List<String> fresh = new ArrayList<>();
            toRead.forEach(text -> add(text, texts, fresh));
            toRead = fresh.stream().filter(text -> text.indexOf('%') >= 0).map(PathReading::decoded).toList();
        }
        List<PathReading> readings = texts.stream().map(PathReading::of).toList();
        boolean unclear = texts.size() > MOST || readings.stream().anyMatch(PathReading::climbs);
        return unclear ? List.of() : readings;
    }

    private static void add(String text, Set<String> texts, List<String> fresh) {
        if (texts.size() <= MOST && texts.add(text)) {
            fresh.add(text);
            add(withoutParameters(text), texts, fresh);
            add(cut(text), texts, fresh);
            add(text.replace('\\', '/'), texts, fresh);
        }
    }

    private boolean climbs() {
        return segments.contains(".") || segments.contains("..");
    }

    private static String withoutParameters(String text) {
        int from = text.indexOf(';');
        if (from < 0) {
            return text;
        }
        StringBuilder kept = new StringBuilder(text.length());
        int at = 0;
        while (from >= 0) {
            kept.append(text, at, from);
            at = PathPattern.end(text, from);
            from = text.indexOf(';', at);
        }
        return kept.append(text, at, text.length()).toString();
    }

    private static String cut(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '?' || c == '#' || c == 0) {
                return text.substring(0, i);
            }
        }
        return text;
    }

    private static String decoded(String text) {
        StringBuilder decoded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
            int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
            if (c == '%' && high >= 0 && low >= 0) {
                decoded.append((char) (high << 4 | low));
                i += 2;
            } else {
                decoded.append(c);
            }
        }
        return decoded.toString();
    }
}

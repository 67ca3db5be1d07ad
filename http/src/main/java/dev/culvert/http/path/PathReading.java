package dev.culvert.http.path;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One way in which a server may interpret a raw path. Servers differ in the number of decodings, in dropping
 * {@code ;parameters} before or after decoding, in cutting the path at a decoded {@code ?}, {@code #} or NUL,
 * in treating backslashes as slashes, and in trimming segments. Immutable.
 *
 * @param text the path as that server interprets it
 * @param segments the segments of {@code text} that are not empty
 */
public record PathReading(String text, List<String> segments) {
    /** The maximum number of decodings: an upstream behind two gateways may decode three times. */
    private static final int DECODINGS = 3;
    /** The maximum number of readings. Ordinary paths have one to ten, and every rule checks each. */
    private static final int MAX = 32;

    public PathReading {
        segments = List.copyOf(segments);
    }

    private static PathReading of(String text) {
        return new PathReading(text,
                Arrays.stream(text.split("/", -1)).filter(segment -> !segment.isEmpty()).toList());
    }

    /**
     * All readings of a raw path, the literal one first. Empty if no rule can safely match it: a reading has
     * dot segments or overlong UTF-8, the path is encoded more often than servers decode, or there are too
     * many readings.
     */
    public static List<PathReading> all(String path) {
        Set<String> texts = new LinkedHashSet<>();
        List<String> toRead = List.of(path);
        for (int decoded = 0; decoded <= DECODINGS && !toRead.isEmpty(); decoded++) {
            List<String> fresh = new ArrayList<>();
            toRead.forEach(text -> add(text, texts, fresh));
            toRead = fresh.stream().filter(text -> text.indexOf('%') >= 0).map(PathReading::decoded).toList();
        }
        List<PathReading> readings = texts.stream().map(PathReading::of).toList();
        boolean unclear = texts.size() > MAX || toRead.stream().anyMatch(text -> !texts.contains(text))
                || readings.stream().anyMatch(PathReading::climbs)
                || texts.stream().anyMatch(PathReading::isOverlong);
        return unclear ? List.of() : readings;
    }

    private static void add(String text, Set<String> texts, List<String> fresh) {
        if (texts.size() <= MAX && texts.add(text)) {
            fresh.add(text);
            add(withoutParameters(text), texts, fresh);
            add(cut(text), texts, fresh);
            add(text.replace('\\', '/'), texts, fresh);
            add(trimmed(text), texts, fresh);
        }
    }

    private boolean climbs() {
        return segments.contains(".") || segments.contains("..");
    }

    /**
     * Whether the bytes contain overlong UTF-8, which writes {@code /} and other characters with more bytes
     * than needed. Valid UTF-8 has no such bytes.
     */
    private static boolean isOverlong(String bytes) {
        for (int i = 0; i < bytes.length(); i++) {
            char c = bytes.charAt(i);
            char next = i + 1 < bytes.length() ? bytes.charAt(i + 1) : 0;
            if (c == 0xc0 || c == 0xc1
                    || next >= 0x80 && (c == 0xe0 && next < 0xa0 || c == 0xf0 && next < 0x90)) {
                return true;
            }
        }
        return false;
    }

    /** Removes spaces and control characters at both ends of each segment. */
    private static String trimmed(String text) {
        if (text.chars().noneMatch(c -> c <= ' ')) {
            return text;
        }
        return Arrays.stream(text.split("/", -1)).map(String::trim).collect(Collectors.joining("/"));
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
            int high = i + 2 < text.length() ? digit(text.charAt(i + 1)) : -1;
            int low = i + 2 < text.length() ? digit(text.charAt(i + 2)) : -1;
            if (c == '%' && high >= 0 && low >= 0) {
                decoded.append((char) (high << 4 | low));
                i += 2;
            } else {
                decoded.append(c);
            }
        }
        return decoded.toString();
    }

    private static int digit(char c) {
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }
}

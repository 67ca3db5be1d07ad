package dev.culvert.appproxy.commits;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A file's path in a repository: relative, with segments divided by {@code /}. In a work tree on any system,
 * each segment names a file or folder of that repository and nothing else.
 *
 * @param text as the caller wrote it
 */
record FilePath(String text) {
    /**
     * The maximum length. Linux accepts 4096 bytes for a whole path, including the work tree's own folder.
     */
    private static final int MAX_BYTES = 2048;

    private static final int MAX_SEGMENT_BYTES = 255;

    /** The bound of the recursion that writes trees. */
    private static final int MAX_SEGMENTS = 64;

    /** The characters that HFS+ ignores when it compares names, as in Git's own check. */
    private static final Pattern IGNORED_ON_HFS = Pattern
            .compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]");

    /**
     * The names that NTFS treats as {@code .git}: its short name, its streams, and names with trailing dots
     * and spaces.
     */
    private static final Pattern GIT_FOLDER = Pattern.compile("(\\.git|git~[0-9]+)[. ]*(:.*)?");

    FilePath {
        List<String> segments = split(text);
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES || segments.size() > MAX_SEGMENTS) {
            throw refused("a path has at most " + MAX_BYTES + " bytes and " + MAX_SEGMENTS + " segments", "");
        }
        segments.forEach(segment -> check(segment, text));
    }

    /** The segments, the file's name last. */
    List<String> segments() {
        return split(text);
    }

    @Override
    public String toString() {
        return text;
    }

    private static List<String> split(String text) {
        return List.of(text.split("/", -1));
    }

    private static void check(String segment, String path) {
        if (segment.isEmpty()) {
            throw refused("a path is relative, and has no empty segments", path);
        }
        if (segment.equals(".") || segment.equals("..")) {
            throw refused("a path has no dot segments", path);
        }
        if (segment.chars().anyMatch(c -> c < ' ' || c == 0x7f || c == '\\')
                || !StandardCharsets.UTF_8.newEncoder().canEncode(segment)) {
            throw refused("a path has no control characters, backslashes or broken characters", "");
        }
        if (segment.getBytes(StandardCharsets.UTF_8).length > MAX_SEGMENT_BYTES) {
            throw refused("a segment of a path has at most " + MAX_SEGMENT_BYTES + " bytes", "");
        }
        if (GIT_FOLDER.matcher(folded(segment)).matches()) {
            throw refused("a path does not lead into Git's own folder", path);
        }
    }

    /** The form in which systems compare names that ignore case and invisible characters. */
    private static String folded(String segment) {
        String visible = IGNORED_ON_HFS.matcher(segment).replaceAll("");
        return Normalizer.normalize(visible, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
    }

    private static HandlerException refused(String rule, String path) {
        return HandlerException.of(Reason.BAD_REQUEST, path.isEmpty() ? rule : rule + ": " + path);
    }
}

package dev.culvert.appproxy.commits;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A file's path in a repository: relative, segments divided by {@code /}, none of which a work tree on any system would
 * take for something else than a file or folder of that repository.
 *
 * @param text as the caller wrote it
 */
record FilePath(String text) {
    /** Linux takes 4096 bytes for a whole path, of which the work tree's own folder needs some. */
    private static final int MAX_BYTES = 2048;

    private static final int MAX_SEGMENT_BYTES = 255;

    /** The recursion's bound when trees are written. */
    private static final int MAX_SEGMENTS = 64;

    /** What HFS+ leaves out when it compares names, as Git's own check has it. */
    private static final Pattern IGNORED_ON_HFS = Pattern
            .compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]");

    /** What NTFS takes for {@code .git}: its short name, streams of it, and trailing dots and spaces. */
    private static final Pattern GIT_FOLDER = Pattern.compile("(\\.git|git~[0-9]+)[. ]*(:.*)?");

    FilePath {
        List<String> segments = split(text);
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES || segments.size() > MAX_SEGMENTS) {
            throw refused("a path has at most " + MAX_BYTES + " bytes and " + MAX_SEGMENTS + " segments", "");
        }
        segments.forEach(segment -> check(segment, text));
    }

    /** Its segments, the file's name last. */
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

    /** As systems that ignore case, and characters that don't print, compare names. */
    private static String folded(String segment) {
        String visible = IGNORED_ON_HFS.matcher(segment).replaceAll("");
        return Normalizer.normalize(visible, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
    }

    private static HandlerException refused(String rule, String path) {
        return HandlerException.of(Reason.BAD_REQUEST, path.isEmpty() ? rule : rule + ": " + path);
    }
}

package dev.culvert.appproxy.commits;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Changes as a tree of folders. Names are the bytes of path segments, one character for each byte, as Git
 * compares and stores them.
 */
sealed interface ChangeTree {
    /** The changes of one folder, by name. */
    record Folder(Map<String, ChangeTree> members) implements ChangeTree {}

    /** The change of one file. */
    record File(FileChange change) implements ChangeTree {}

    /** Errors: BAD_REQUEST when a path is named twice, or both as a file and as a folder. */
    static Folder of(List<FileChange> changes) {
        Folder root = new Folder(new TreeMap<>());
        changes.forEach(change -> add(root, change));
        return root;
    }

    private static void add(Folder root, FileChange change) {
        List<String> segments = change.path().segments();
        Folder folder = root;
        for (String segment : segments.subList(0, segments.size() - 1)) {
            ChangeTree member = folder.members.computeIfAbsent(raw(segment),
                    name -> new Folder(new TreeMap<>()));
            folder = switch (member) {
                case Folder below -> below;
                case File file -> throw twice(file.change.path());
            };
        }
        if (folder.members.putIfAbsent(raw(segments.getLast()), new File(change)) != null) {
            throw twice(change.path());
        }
    }

    private static String raw(String segment) {
        return new String(segment.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static HandlerException twice(FilePath path) {
        return HandlerException.of(Reason.BAD_REQUEST,
                "a path is named once in a commit, as a file or as a folder: " + path);
    }
}

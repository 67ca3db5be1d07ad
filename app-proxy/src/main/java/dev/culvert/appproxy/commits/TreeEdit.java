package dev.culvert.appproxy.commits;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.TreeFormatter;
import org.eclipse.jgit.treewalk.CanonicalTreeParser;
import org.jspecify.annotations.Nullable;

/**
 * Makes a new tree from an old one and changes. Reads and writes only the folders on the paths of changed
 * files, and reads no file's content, so a large repository costs no more than a small one. Blocks.
 */
final class TreeEdit {
    /** The maximum number of reported conflicts. */
    private static final int CONFLICTS_TOLD = 5;

    private final ObjectReader reader;
    private final ObjectInserter inserter;
    private final List<String> conflicts = new ArrayList<>();
    private final List<FileChange> pinned = new ArrayList<>();

    /** Makes an edit of one tree. Borrows reader and inserter. */
    TreeEdit(ObjectReader reader, ObjectInserter inserter) {
        this.reader = reader;
        this.inserter = inserter;
    }

    /**
     * Applies the changes. Returns the new tree's id; nothing is flushed. Errors: HandlerException CONFLICT
     * naming the current revisions of files that are not as expected; BAD_REQUEST for a path through a
     * symbolic link, submodule or file, or onto a folder; NOT_FOUND for the deletion of a missing file.
     *
     * @param tree the old tree; null for none
     */
    ObjectId apply(@Nullable ObjectId tree, ChangeTree.Folder changes) throws IOException {
        ObjectId edited = folder(tree, changes);
        if (!conflicts.isEmpty()) {
            throw HandlerException.of(Reason.CONFLICT, String.join("; ", conflicts));
        }
        return edited == null ? new TreeFormatter().insertTo(inserter) : edited;
    }

    /** The changes, each with the revision in the old tree as its expectation. */
    List<FileChange> pinned() {
        return List.copyOf(pinned);
    }

    private @Nullable ObjectId folder(@Nullable ObjectId tree, ChangeTree.Folder changes) throws IOException {
        Map<String, Entry> entries = read(tree);
        for (Map.Entry<String, ChangeTree> member : changes.members().entrySet()) {
            Entry old = entries.get(member.getKey());
            Entry edited = switch (member.getValue()) {
                case ChangeTree.File file -> file(old, file.change());
                case ChangeTree.Folder below -> below(old, below);
            };
            if (edited == null) {
                entries.remove(member.getKey());
            } else {
                entries.put(member.getKey(), edited);
            }
        }
        return entries.isEmpty() ? null : write(entries);
    }

    private @Nullable Entry below(@Nullable Entry old, ChangeTree.Folder changes) throws IOException {
        if (old != null && !old.tree()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "a path leads through " + what(old) + ": " + anyPath(changes));
        }
        ObjectId edited = folder(old == null ? null : old.id, changes);
        return edited == null ? null : new Entry(FileMode.TREE, edited);
    }

    private @Nullable Entry file(@Nullable Entry old, FileChange change) throws IOException {
        if (old != null && !old.file()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "the path is that of " + what(old) + ": " + change.path());
        }
        ObjectId revision = old == null ? null : old.id;
        pinned.add(change.expecting(Expected.exactly(revision)));
        if (!change.expected().holds(revision)) {
            conflict(change, revision);
            return old;
        }
        return switch (change) {
            case FileChange.Write write -> new Entry(old == null ? FileMode.REGULAR_FILE : old.mode,
                    write.content().insert(inserter));
            case FileChange.Delete delete -> deleted(old, delete);
        };
    }

    private static @Nullable Entry deleted(@Nullable Entry old, FileChange.Delete delete) {
        if (old == null) {
            throw HandlerException.of(Reason.NOT_FOUND, "no such file: " + delete.path());
        }
        return null;
    }

    private void conflict(FileChange change, @Nullable ObjectId revision) {
        if (conflicts.size() >= CONFLICTS_TOLD) {
            return;
        }
        String current = revision == null ? "does not exist" : "is at revision " + revision.name();
        conflicts.add(change.path() + " " + current + ", not " + switch (change.expected()) {
            case Expected.Revision expected -> "at " + expected.id().name();
            case Expected.Nothing nothing -> "new";
            case Expected.Anything anything -> "anything";
        });
    }

    private static String what(Entry entry) {
        if (FileMode.SYMLINK.equals(entry.mode.getBits())) {
            return "a symbolic link";
        }
        return FileMode.GITLINK.equals(entry.mode.getBits())
                ? "a submodule"
                : entry.tree() ? "a folder" : "a file";
    }

    private static FilePath anyPath(ChangeTree changes) {
        return switch (changes) {
            case ChangeTree.File file -> file.change().path();
            case ChangeTree.Folder folder -> anyPath(folder.members().values().iterator().next());
        };
    }

    private Map<String, Entry> read(@Nullable ObjectId tree) throws IOException {
        Map<String, Entry> entries = new HashMap<>();
        if (tree != null) {
            var parser = new CanonicalTreeParser(null, reader, tree);
            for (; !parser.eof(); parser.next(1)) {
                byte[] name = new byte[parser.getNameLength()];
                parser.getName(name, 0);
                entries.put(new String(name, StandardCharsets.ISO_8859_1),
                        new Entry(parser.getEntryFileMode(), parser.getEntryObjectId()));
            }
        }
        return entries;
    }

    private ObjectId write(Map<String, Entry> entries) throws IOException {
        var formatter = new TreeFormatter();
        // Git sorts a folder as if its name ended with a slash.
        entries.entrySet()
                .stream()
                .sorted(Comparator.comparing(
                        member -> member.getValue().tree()
                                ? member.getKey() + "/"
                                : member.getKey()))
                .forEach(member -> formatter.append(member.getKey().getBytes(StandardCharsets.ISO_8859_1),
                        member.getValue().mode, member.getValue().id));
        return formatter.insertTo(inserter);
    }

    private record Entry(FileMode mode, ObjectId id) {
        boolean tree() {
            return FileMode.TREE.equals(mode.getBits());
        }

        boolean file() {
            return FileMode.REGULAR_FILE.equals(mode.getBits())
                    || FileMode.EXECUTABLE_FILE.equals(mode.getBits());
        }
    }
}

package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Blobs;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.appproxy.commits.git.BranchMoved;
import dev.culvert.appproxy.commits.git.Remote;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.treewalk.TreeWalk;
import org.jspecify.annotations.Nullable;

/** Reads files of a branch as it is now. Blocks; used by one thread at a time. */
final class BranchReading {
    /** The maximum number of reads. A branch that moves during a read usually moves only once or twice. */
    private static final int LOOKS = 5;

    private final Remote remote;
    private final Branch branch;

    BranchReading(Remote remote, Branch branch) {
        this.remote = remote;
        this.branch = branch;
    }

    /**
     * Reads a file into memory. Errors: HandlerException NOT_FOUND for an unknown branch or file; those of
     * {@link Remote} and of {@code admission}.
     *
     * @param admission gets the file's size before the file is in memory, and throws to refuse it
     */
    FileRead file(FilePath path, LongConsumer admission) throws IOException {
        return looking((view, tip) -> {
            ObjectId at = tip(tip);
            ObjectId blob = present(view, at, path);
            view.provide(blob);
            long size = Blobs.size(view.objects(), blob);
            admission.accept(size);
            byte[] content = Blobs.read(view.objects(), blob, Math.toIntExact(size));
            return FileRead.of(path, blob.name(), content, at.name());
        });
    }

    /**
     * Finds a file and copies it for its reader, unless that knows it or wants no content. Errors:
     * HandlerException NOT_FOUND for an unknown branch or file; those of {@link Remote} and of {@code
     * reader}.
     */
    RawFile raw(FilePath path, RawReads.Read reader) throws IOException {
        return looking((view, tip) -> {
            ObjectId blob = present(view, tip(tip), path);
            if (reader.knows(blob)) {
                return new RawFile(blob.name(), RawFile.UNREAD);
            }
            view.provide(blob);
            return new RawFile(blob.name(), reader.receive(view.objects(), blob));
        });
    }

    private ObjectId tip(@Nullable ObjectId tip) {
        if (tip == null) {
            throw HandlerException.of(Reason.NOT_FOUND, "no such branch: " + branch);
        }
        return tip;
    }

    private static ObjectId present(Remote.View view, ObjectId tip, FilePath path) throws IOException {
        ObjectId blob = blob(view, tip, path);
        if (blob == null) {
            throw HandlerException.of(Reason.NOT_FOUND, "no such file: " + path);
        }
        return blob;
    }

    /** The files that exist; none if the branch does not exist. */
    Set<FilePath> existing(List<FilePath> paths) throws IOException {
        return looking((view, tip) -> {
            Set<FilePath> found = new LinkedHashSet<>();
            for (FilePath path : paths) {
                if (tip != null && blob(view, tip, path) != null) {
                    found.add(path);
                }
            }
            return found;
        });
    }

    private <T> T looking(Look<T> look) throws IOException {
        for (int left = LOOKS;; left--) {
            try (Remote.View view = remote.open(Remote.Purpose.READ)) {
                return look.at(view, view.tip(branch));
            } catch (BranchMoved e) {
                if (left == 1) {
                    throw e;
                }
            }
        }
    }

    private static @Nullable ObjectId blob(Remote.View view, ObjectId tip, FilePath path) throws IOException {
        try (ObjectReader reader = view.objects().newObjectReader(); RevWalk walk = new RevWalk(reader)) {
            TreeWalk found = TreeWalk.forPath(reader, path.text(), walk.parseCommit(tip).getTree());
            if (found == null) {
                return null;
            }
            int mode = found.getRawMode(0);
            if (!FileMode.REGULAR_FILE.equals(mode) && !FileMode.EXECUTABLE_FILE.equals(mode)) {
                throw HandlerException.of(Reason.BAD_REQUEST, "not a file: " + path);
            }
            return found.getObjectId(0);
        }
    }

    /** Reads from one view of the branch. */
    @FunctionalInterface
    private interface Look<T> {
        T at(Remote.View view, @Nullable ObjectId tip) throws IOException;
    }
}

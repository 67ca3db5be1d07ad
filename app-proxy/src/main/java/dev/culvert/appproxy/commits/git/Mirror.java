package dev.culvert.appproxy.commits.git;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.lib.RepositoryBuilder;

/**
 * A partial copy of a remote repository, for making commits: some commits with all their trees, and few
 * files. It is a bare repository without branches. Used by one thread at a time.
 */
public final class Mirror {
    /**
     * The maximum number of commits reported to the remote as present, so that it sends only new objects. One
     * for each branch is enough.
     */
    private static final int MAX_COMMITS = 64;

    private final Path folder;
    private final Repository objects;
    private final Set<ObjectId> commits = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ObjectId, Boolean> eldest) {
            return size() > MAX_COMMITS;
        }
    });

    private boolean partial = true;
    private int uses;

    private Mirror(Path folder, Repository objects) {
        this.folder = folder;
        this.objects = objects;
    }

    /** Makes an empty mirror in a folder that does not exist yet. */
    static Mirror create(Path folder) throws IOException {
        JGitSetup.once();
        Repository made = new RepositoryBuilder().setGitDir(folder.toFile()).setBare().build();
        made.create(true);
        // All of this can be fetched again.
        made.getConfig().setBoolean("core", null, "fsyncObjectFiles", false);
        made.getConfig().save();
        return new Mirror(folder, made);
    }

    Repository objects() {
        return objects;
    }

    Path folder() {
        return folder;
    }

    /** The commits whose trees are complete here. */
    Set<ObjectId> commits() {
        return Set.copyOf(commits);
    }

    boolean has(ObjectId commit) {
        return commits.contains(commit);
    }

    void add(ObjectId commit) {
        commits.remove(commit);
        commits.add(commit);
    }

    /** Whether fetches leave out files; false for remotes without support for that. */
    boolean partial() {
        return partial;
    }

    /**
     * Makes later fetches include files. The present commits lack files, so they no longer count as complete.
     */
    void complete() {
        partial = false;
        commits.clear();
    }

    /** Counts a use. Returns the number of uses. */
    int used() {
        return ++uses;
    }

    /** The size on the disk in bytes; more than any bound when it can't be determined. */
    long bytes() {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException | UncheckedIOException e) {
            return Long.MAX_VALUE;
        }
    }

    void close() {
        objects.close();
    }
}

package dev.culvert.appproxy.repositories;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.eclipse.jgit.dircache.DirCache;
import org.eclipse.jgit.lib.CommitBuilder;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;

/** An empty commit in a bare repository, and branches at it. */
final class FirstCommit {
    private FirstCommit() {}

    /** Makes {@code main} and the other branches; returns the commit. */
    static ObjectId to(Path bare, List<String> branches) throws IOException {
        try (Repository git = new FileRepositoryBuilder().setGitDir(bare.toFile()).setBare().build();
                ObjectInserter inserter = git.newObjectInserter()) {
            var person = new PersonIdent("a", "a@example.com");
            var builder = new CommitBuilder();
            builder.setTreeId(DirCache.newInCore().writeTree(inserter));
            builder.setAuthor(person);
            builder.setCommitter(person);
            builder.setMessage("first");
            ObjectId commit = inserter.insert(builder);
            inserter.flush();
            branch(git, "main", commit);
            for (String branch : branches) {
                branch(git, branch, commit);
            }
            return commit;
        }
    }

    private static void branch(Repository git, String name, ObjectId commit) throws IOException {
        RefUpdate update = git.updateRef(Constants.R_HEADS + name);
        update.setNewObjectId(commit);
        update.update();
    }
}

package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jgit.errors.RepositoryNotFoundException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Ref;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.lib.RepositoryBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A bare repository in a local folder. Git's lock files exclude concurrent writers, also of other programs.
 * Hooks do not run.
 *
 * @param root the folder of repositories; links that lead out of it are refused
 * @param folder the repository's own
 */
public record FolderRemote(Path root, Path folder) implements Remote {
    @Override
    public View open(Purpose purpose) throws IOException {
        JGitSetup.once();
        if (!Files.isDirectory(folder) || !folder.toRealPath().startsWith(root.toRealPath())) {
            throw missing();
        }
        try {
            return new FolderView(
                    new RepositoryBuilder().setGitDir(folder.toFile()).setBare().setMustExist(true).build());
        } catch (RepositoryNotFoundException e) {
            throw missing();
        }
    }

    private static HandlerException missing() {
        return HandlerException.of(Reason.NOT_FOUND, "no such repository");
    }

    private record FolderView(Repository objects) implements View {
        @Override
        public @Nullable ObjectId tip(Branch branch) throws IOException {
            Ref ref = objects.exactRef(branch.ref());
            return ref == null ? null : ref.getObjectId();
        }

        @Override
        public boolean empty() throws IOException {
            return objects.getRefDatabase().getRefsByPrefix(Constants.R_HEADS).isEmpty();
        }

        @Override
        public void provide(ObjectId id) {
            // all objects are here
        }

        @Override
        public boolean land(Branch branch, @Nullable ObjectId tip, ObjectId commit) throws IOException {
            RefUpdate update = objects.updateRef(branch.ref());
            update.setExpectedOldObjectId(tip == null ? ObjectId.zeroId() : tip);
            update.setNewObjectId(commit);
            update.setRefLogMessage("commit", false);
            RefUpdate.Result result = update.update();
            return switch (result) {
                case NEW, FAST_FORWARD -> true;
                case LOCK_FAILURE, REJECTED -> false;
                default -> throw new IOException("branch " + branch + " was not set: " + result);
            };
        }

        @Override
        public void close() {
            objects.close();
        }
    }
}

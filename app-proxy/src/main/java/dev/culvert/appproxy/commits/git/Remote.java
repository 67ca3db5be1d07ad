package dev.culvert.appproxy.commits.git;

import java.io.IOException;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Repository;
import org.jspecify.annotations.Nullable;

/**
 * A repository that receives commits. Blocks; used by one thread at a time. Errors are HandlerException:
 * NOT_FOUND for an unknown repository, FORBIDDEN for a token that the provider refuses, UNAVAILABLE when the
 * repository can't be reached.
 */
public interface Remote {
    /** Opens a view of the repository as it is now. */
    View open(Purpose purpose) throws IOException;

    /** The purpose of a view: providers distinguish readers and writers. */
    enum Purpose {
        READ, WRITE
    }

    /** A view of a repository, with the tips of branches at its opening. */
    interface View extends AutoCloseable {
        /** The branch's newest commit, with all its trees in {@link #objects}; null: no such branch. */
        @Nullable
        ObjectId tip(Branch branch) throws IOException;

        /** Whether the repository has no branches. */
        boolean empty() throws IOException;

        /** The objects to read, and the store for those of a new commit. */
        Repository objects();

        /** Stores a blob that a tip's trees name in {@link #objects}, if it is not there. */
        void provide(ObjectId id) throws IOException;

        /**
         * Sets the branch to {@code commit} if it is still at {@code tip}. Returns false if it is not.
         *
         * @param tip the expected tip; null: the branch must not exist
         */
        boolean land(Branch branch, @Nullable ObjectId tip, ObjectId commit) throws IOException;

        @Override
        void close();
    }
}

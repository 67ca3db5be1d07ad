package dev.culvert.appproxy.commits.git;

import java.io.IOException;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Repository;
import org.jspecify.annotations.Nullable;

/**
 * A repository that commits go to. Blocks; used by one thread at a time. Errors are HandlerException: NOT_FOUND for no such
 * repository, FORBIDDEN for a token that the provider refuses, UNAVAILABLE where it can't be reached.
 */
public interface Remote {
    /** Looks at the repository as it is now. */
    View open(Purpose purpose) throws IOException;

    /** What a look is for: providers tell readers and writers apart. */
    enum Purpose {
        READ, WRITE
    }

    /** One look: the tips of branches as they were at its beginning. */
    interface View extends AutoCloseable {
        /** The branch's newest commit with all the trees below it at hand in {@link #objects}; null: no such branch. */
        @Nullable
        ObjectId tip(Branch branch) throws IOException;

        /** Whether there are no branches at all. */
        boolean empty() throws IOException;

        /** Where objects are read, and those of a new commit are written. */
        Repository objects();

        /** A blob that a tip's trees name, at hand in {@link #objects}. Throws HandlerException BODY_TOO_LARGE. */
        byte[] blob(ObjectId id, int maxBytes) throws IOException;

        /**
         * Sets the branch to {@code commit} if it still is at {@code tip}. False: it isn't.
         *
         * @param tip null: there must be no such branch
         */
        boolean land(Branch branch, @Nullable ObjectId tip, ObjectId commit) throws IOException;

        @Override
        void close();
    }
}

package dev.culvert.appproxy.commits;

import org.eclipse.jgit.lib.ObjectId;
import org.jspecify.annotations.Nullable;

/** The state that a change expects at its path: the optimistic lock of a file. */
sealed interface Expected {
    Expected ANYTHING = new Anything();
    Expected NOTHING = new Nothing();

    /** Whether a file at {@code revision} matches; null: there is no file. */
    boolean holds(@Nullable ObjectId revision);

    /** Expects exactly this revision, or no file if null. */
    static Expected exactly(@Nullable ObjectId revision) {
        return revision == null ? NOTHING : new Revision(revision);
    }

    /** Any file, or none. */
    record Anything() implements Expected {
        @Override
        public boolean holds(@Nullable ObjectId revision) {
            return true;
        }
    }

    /** No file yet. */
    record Nothing() implements Expected {
        @Override
        public boolean holds(@Nullable ObjectId revision) {
            return revision == null;
        }
    }

    /**
     * The file as it was read.
     *
     * @param id the blob's id
     */
    record Revision(ObjectId id) implements Expected {
        @Override
        public boolean holds(@Nullable ObjectId revision) {
            return id.equals(revision);
        }
    }
}

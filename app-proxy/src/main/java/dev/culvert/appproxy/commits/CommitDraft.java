package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.List;
import org.eclipse.jgit.lib.PersonIdent;
import org.jspecify.annotations.Nullable;

/**
 * A commit to be made.
 *
 * @param branch the branch that receives the commit
 * @param base the branch from which {@code branch} is created if it does not exist; null: a missing branch is
 *        an error
 * @param changes the changes of files, each path once
 * @param message the commit's whole message
 * @param author the author and the time
 * @param allowEmpty whether a commit without changes is made
 * @param force whether files are written regardless of their present revision
 */
record CommitDraft(Branch branch, @Nullable Branch base, List<FileChange> changes, String message,
        PersonIdent author,
        boolean allowEmpty, boolean force) {
    /** The maximum length of a message. Providers cut or refuse longer ones. */
    static final int MAX_MESSAGE = 16 << 10;

    CommitDraft {
        changes = List.copyOf(changes);
        if (message.isBlank() || message.length() > MAX_MESSAGE || message.indexOf('\0') >= 0) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "a commit's message with its description has 1 to " + MAX_MESSAGE
                            + " characters, none of them NUL");
        }
    }

    /**
     * Returns the same commit for a branch that has moved. Files without an expected revision must still have
     * the revision of the first attempt.
     */
    CommitDraft pinned(List<FileChange> seen) {
        return force ? this : new CommitDraft(branch, base, seen, message, author, allowEmpty, false);
    }
}

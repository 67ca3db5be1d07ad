package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.List;
import org.eclipse.jgit.lib.PersonIdent;
import org.jspecify.annotations.Nullable;

/**
 * A commit that is to be made.
 *
 * @param branch where
 * @param base the branch that {@code branch} is made from if there is none yet; null: then it's an error
 * @param changes of files, each path once
 * @param message the commit's whole message
 * @param author who makes it, and when
 * @param allowEmpty whether a commit that changes nothing is made
 * @param force whether files are written whatever is there
 */
record CommitDraft(Branch branch, @Nullable Branch base, List<FileChange> changes, String message,
        PersonIdent author,
        boolean allowEmpty, boolean force) {
    /** Providers cut or refuse longer ones. */
    static final int MAX_MESSAGE = 16 << 10;

    CommitDraft {
        changes = List.copyOf(changes);
        if (message.isBlank() || message.length() > MAX_MESSAGE || message.indexOf('\0') >= 0) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "a commit's message with its description has 1 to " + MAX_MESSAGE
                            + " characters, none of them NUL");
        }
    }

    /** The same commit on a branch that has moved: of files that were not locked, the state that was seen first counts. */
    CommitDraft pinned(List<FileChange> seen) {
        return force ? this : new CommitDraft(branch, base, seen, message, author, allowEmpty, false);
    }
}

package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.appproxy.commits.git.BranchMoved;
import dev.culvert.appproxy.commits.git.Remote;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.Optional;
import org.eclipse.jgit.lib.CommitBuilder;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.revwalk.RevWalk;
import org.jspecify.annotations.Nullable;

/**
 * One commit in progress: call {@link #attempt} until it lands. An attempt that finds the branch moved
 * discards only the commit object. The next commit is made on the new tip, and conflicts with it only if the
 * same files changed. Blocks; used by one thread at a time.
 */
final class CommitJob {
    private final Remote remote;
    private CommitDraft draft;

    CommitJob(Remote remote, CommitDraft draft) {
        this.remote = remote;
        this.draft = draft;
    }

    /**
     * Tries to land the commit on the present tip of the branch. Empty when another commit landed meanwhile.
     * Errors: those of {@link TreeEdit#apply} and {@link Remote}; NOT_FOUND for an unknown branch; CONFLICT
     * when nothing would change.
     */
    Optional<CommitResult> attempt() throws IOException {
        try (Remote.View view = remote.open(Remote.Purpose.WRITE)) {
            ObjectId tip = view.tip(draft.branch());
            ObjectId parent = tip == null ? start(view) : tip;
            ObjectId commit = write(view, parent);
            if (!view.land(draft.branch(), tip, commit)) {
                return Optional.empty();
            }
            PersonIdent author = draft.author();
            return Optional
                    .of(new CommitResult(commit.name(), draft.message(), author.getWhenAsInstant().toString(),
                            new CommitResult.Person(author.getName(), author.getEmailAddress())));
        } catch (BranchMoved e) {
            return Optional.empty();
        }
    }

    /** The parent of a new branch's first commit; null for the first commit of the repository. */
    private @Nullable ObjectId start(Remote.View view) throws IOException {
        Branch base = draft.base();
        ObjectId tip = base == null ? null : view.tip(base);
        if (tip == null && !view.empty()) {
            throw HandlerException.of(Reason.NOT_FOUND,
                    "no such branch: " + (base == null ? draft.branch() : base));
        }
        return tip;
    }

    private ObjectId write(Remote.View view, @Nullable ObjectId parent) throws IOException {
        try (ObjectReader reader = view.objects().newObjectReader();
                ObjectInserter inserter = view.objects().newObjectInserter();
                RevWalk walk = new RevWalk(reader)) {
            ObjectId old = parent == null ? null : walk.parseCommit(parent).getTree().copy();
            var edit = new TreeEdit(reader, inserter);
            ObjectId tree = edit.apply(old, ChangeTree.of(draft.changes()));
            if (tree.equals(old) && !draft.allowEmpty()) {
                throw HandlerException.of(Reason.CONFLICT,
                        "nothing to commit: the files already have this content");
            }
            draft = draft.pinned(edit.pinned());
            ObjectId commit = inserter.insert(Constants.OBJ_COMMIT, commit(tree, parent).build());
            inserter.flush();
            return commit;
        }
    }

    private CommitBuilder commit(ObjectId tree, @Nullable ObjectId parent) {
        var commit = new CommitBuilder();
        commit.setTreeId(tree);
        if (parent != null) {
            commit.setParentId(parent);
        }
        commit.setAuthor(draft.author());
        commit.setCommitter(draft.author());
        commit.setMessage(draft.message());
        return commit;
    }
}

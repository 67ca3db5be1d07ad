package dev.culvert.inbox.store;

import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.SourceKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells of commits those that are made after the thread of commits, and the thread that gives way to it. */
public final class RelayedCommits implements CommitListener {
    private final BulkThread files;
    /** Set before that thread begins. */
    public @Nullable CommitListener to;

    public RelayedCommits(BulkThread files) {
        this.files = files;
    }

    @Override
    public void found(List<SourceKey> others) {
        if (to != null) {
            to.found(others);
        }
    }

    @Override
    public void committed(int tasks, long nanos) {
        files.committed(nanos);
        if (to != null) {
            to.committed(tasks, nanos);
        }
    }
}

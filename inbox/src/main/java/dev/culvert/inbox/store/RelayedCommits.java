package dev.culvert.inbox.store;

import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.SourceKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Forwards commit notifications to the dispatcher, which is created after the commit thread, and to the file
 * thread, which yields to commits.
 */
public final class RelayedCommits implements CommitListener {
    private final BulkThread files;
    /** The dispatcher's listener. Set before the commit thread starts. */
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

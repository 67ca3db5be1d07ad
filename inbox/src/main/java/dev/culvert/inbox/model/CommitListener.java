package dev.culvert.inbox.model;

import java.util.List;

/** Told of transactions, on the commit thread. Must not block. */
public interface CommitListener {
    /** Another process stored something for these; it comes before whatever the transaction stored. */
    void found(List<SourceKey> others);

    /** A transaction is on the disk. */
    void committed(int tasks, long nanos);
}

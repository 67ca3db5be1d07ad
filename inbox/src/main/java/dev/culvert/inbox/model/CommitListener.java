package dev.culvert.inbox.model;

import java.util.List;

/** Receives commit notifications on the commit thread. Must not block. */
public interface CommitListener {
    /**
     * Another process stored webhooks of these sources. Called before the notifications for the transaction's
     * own webhooks.
     */
    void found(List<SourceKey> others);

    /** A transaction is on disk. */
    void committed(int tasks, long nanos);
}

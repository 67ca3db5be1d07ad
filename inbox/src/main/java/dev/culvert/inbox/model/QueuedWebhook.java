package dev.culvert.inbox.model;

import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A webhook to be delivered, as the dispatcher holds it. Belongs to the dispatcher's thread once it is
 * created.
 */
public final class QueuedWebhook {
    public final long seq;
    public final String id;
    public final String runtime;
    public final String source;
    public final boolean ordered;
    public final long stored;
    /** The number of attempts that may have been sent. If {@link #reserved}, the next one is included. */
    public int begun;
    /** Whether the attempt number {@link #begun} is on disk but was not sent yet. */
    public boolean reserved;
    /** The number of attempts that were refused before the webhook was sent. {@link #begun} has none. */
    public int refused;
    /** The time at which {@link #refused} was last stored. */
    public long refusedStored;
    public int failures;
    public long next;
    public boolean aside;
    /** Whether {@code Probes} sent it before the head of its queue. */
    public boolean probing;
    /** Whether it is tried before its scheduled time, because its source is back. */
    public boolean early;
    /** Whether it has failed since its source last gave a final response to a webhook of the queue. */
    public boolean suspect;
    /** Whether it failed again in an early attempt, after other webhooks got final responses. */
    public boolean suspectAgain;
    /** Whether its attempt counts towards the attempts at sources that are not known to be fast. */
    public boolean unproven;
    /** Whether its duplicates receive the same response. */
    public boolean remembered;
    /** Whether its event source was known to exist when the row was read. */
    public boolean known;
    /** What the store last recorded about its event source's name; null: nothing. */
    public @Nullable Naming naming;
    /** The time of that record. */
    public long namingTold;
    /** Whether it ended in the store during its attempt. */
    public boolean withdrawn;
    /** The number of attempts lost on the way since this process loaded the webhook. */
    public int lost;
    /** The stored reason for which it could not be sent; empty: it could, or was not tried. */
    public String obstacle = "";
    /** The start time of the present attempt. */
    public long attemptBegan;
    /** The content to send, while it is in memory. */
    public @Nullable WebhookBody content;
    /** The caller's event loop, which runs the first attempt. */
    public @Nullable EventLoop loop;
    /** The response of its event source, until it is on disk; null: none yet. */
    public @Nullable StoredAnswer answer;
    /** The callers that wait for its first response. */
    public final List<Waiter> waiters = new ArrayList<>(1);

    public QueuedWebhook(long seq, String id, String runtime, String source, boolean ordered, long stored) {
        this.seq = seq;
        this.id = id;
        this.runtime = runtime;
        this.source = source;
        this.ordered = ordered;
        this.stored = stored;
    }

    /**
     * Returns the time at which it is due. A webhook that never failed is due at once, because the clock may
     * have stepped back since it was stored.
     */
    public long dueAt() {
        return failures == 0 || early ? 0 : next;
    }

    public boolean isDue(long now) {
        return dueAt() <= now;
    }

    /** Releases the content, which the attempt no longer needs. */
    public void drop() {
        WebhookBody held = content;
        if (held != null) {
            content = null;
            held.release();
        }
    }

    /** Answers the waiting callers: the webhook is pending. */
    public void accept() {
        waiters.forEach(Waiter::pending);
        waiters.clear();
    }
}

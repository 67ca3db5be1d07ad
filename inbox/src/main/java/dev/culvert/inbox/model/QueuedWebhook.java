package dev.culvert.inbox.model;

import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A webhook that is to be delivered, as the dispatcher holds it. After its making it belongs to the dispatcher's thread. */
public final class QueuedWebhook {
    public final long seq;
    public final String id;
    public final String runtime;
    public final String source;
    public final boolean ordered;
    public final long stored;
    /** Attempts that may have been sent, the one that is next included when {@link #reserved}. */
    public int begun;
    /** Whether the number {@link #begun} is on the disk and was not sent yet. */
    public boolean reserved;
    public int failures;
    public long next;
    public boolean aside;
    /** Whether it was sent before the first one of its line, by {@code Probes}. */
    public boolean probing;
    /** Whether it is tried before its time, beyond the schedule, as its source is back. */
    public boolean early;
    /** Whether its attempt counts among those of sources that are not known to be quick. */
    public boolean unproven;
    /** Whether duplicates of it are answered like it. */
    public boolean remembered;
    /** Whether its event source was known to be there when this was read. */
    public boolean known;
    /** Attempts that were lost on the way, since this process has it. */
    public int lost;
    /** Why it could not be sent, as the disk has it; empty: it could, or was not tried. */
    public String obstacle = "";
    /** When the attempt under way began. */
    public long attemptBegan;
    /** What is to be sent, while it is in memory. */
    public @Nullable WebhookBody content;
    /** Its caller's loop, where its first attempt runs. */
    public @Nullable EventLoop loop;
    /** What its event source answered, until that is on the disk; null: nothing yet. */
    public @Nullable StoredAnswer answer;
    /** Those who wait for its first answer. */
    public final List<Waiter> waiters = new ArrayList<>(1);

    public QueuedWebhook(long seq, String id, String runtime, String source, boolean ordered, long stored) {
        this.seq = seq;
        this.id = id;
        this.runtime = runtime;
        this.source = source;
        this.ordered = ordered;
        this.stored = stored;
    }

    /** When it is to be sent. One that never failed waits for no time: the clock may have stepped back since it came. */
    public long dueAt() {
        return failures == 0 || early ? 0 : next;
    }

    public boolean isDue(long now) {
        return dueAt() <= now;
    }

    /** What an attempt sends; none of it is needed any more after {@link #drop}. */
    public void drop() {
        WebhookBody held = content;
        if (held != null) {
            content = null;
            held.release();
        }
    }

    /** Nobody waits any more: they are told that it is pending. */
    public void accept() {
        waiters.forEach(Waiter::pending);
        waiters.clear();
    }
}

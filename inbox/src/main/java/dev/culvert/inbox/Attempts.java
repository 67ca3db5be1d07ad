package dev.culvert.inbox;

import dev.culvert.edge.Problem;
import dev.culvert.inbox.Attempt.Numbered;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/** The attempts under way. Of the dispatcher's thread. */
final class Attempts {
    private final InboxSetup setup;
    private final Executor files;
    private final Map<Long, Attempt> running = new HashMap<>();

    /** @param files reads large bodies */
    Attempts(InboxSetup setup, Executor files) {
        this.setup = setup;
        this.files = files;
    }

    /** Sends a webhook, on its caller's loop if there still is one; {@code ended} is told on that loop. */
    void start(Pending pending, Content content, Attempt.Ended ended) {
        EventLoop callers = pending.loop;
        EventLoop loop = callers == null || callers.isShuttingDown() ? setup.loops().next() : callers;
        pending.loop = null;
        var attempt = new Attempt(loop, setup.delivery().relayTo(pending.runtime),
                StoredFields.decode(content.fields),
                new Numbered(pending.id, pending.begun), BodySource.of(content, files),
                setup.config().attemptTimeout().toNanos(), ended);
        running.put(pending.seq, attempt);
        attempt.start();
    }

    void ended(Pending pending) {
        running.remove(pending.seq);
    }

    /** Gives all up. */
    void abandon(Problem why) {
        running.values().forEach(attempt -> attempt.abandon(why));
        running.clear();
    }
}

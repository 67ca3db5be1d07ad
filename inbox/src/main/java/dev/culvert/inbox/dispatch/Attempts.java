package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.inbox.dispatch.Attempt.Numbered;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.StoredFields;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.inbox.store.InboxReads;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The attempts under way. Of the dispatcher's thread. */
final class Attempts {
    private static final Logger log = LoggerFactory.getLogger(Attempts.class);

    private final InboxSetup setup;
    private final InboxReads reads;
    private final LeaseTerm tenure;
    private final Map<Long, Attempt> running = new HashMap<>();

    /** @param reads what is not in memory any more */
    Attempts(InboxSetup setup, InboxReads reads, LeaseTerm tenure) {
        this.setup = setup;
        this.reads = reads;
        this.tenure = tenure;
    }

    /**
     * How one ended.
     *
     * @param answer what the caller gets of it; null: there is no whole one
     */
    record Ending(AttemptResult result, @Nullable StoredAnswer answer) {}

    /** Sends a webhook; either is told on the dispatcher's thread, if the tenure lasts: {@code unread} when nothing was sent. */
    void start(QueuedWebhook pending, Consumer<Ending> ended, Runnable unread) {
        WebhookBody content = pending.content;
        if (content != null) {
            send(pending, content, ended);
            return;
        }
        reads.content(pending.seq)
                .subscribe(tenure.only((WebhookBody read) -> send(pending, read, ended)),
                        tenure.only((Throwable failed) -> {
                            log.atWarn()
                                    .addKeyValue("id", pending.id)
                                    .addKeyValue("reason", failed.getMessage())
                                    .log("webhook not read");
                            unread.run();
                        }));
    }

    /** On its caller's loop, if there still is one. */
    private void send(QueuedWebhook pending, WebhookBody content, Consumer<Ending> ended) {
        pending.reserved = false;
        Consumer<Ending> told = tenure.only((Ending ending) -> {
            running.remove(pending.seq);
            ended.accept(ending);
        });
        EventLoop callers = pending.loop;
        EventLoop loop = callers == null || callers.isShuttingDown() ? setup.loops().next() : callers;
        pending.loop = null;
        var attempt = new Attempt(loop, setup.delivery().relayTo(pending.runtime),
                StoredFields.decode(content.fields),
                new Numbered(pending.id, pending.begun), BodySource.of(content, reads.files()),
                Attempt.timeout(setup.config().attemptTimeout(), pending.begun, content.size).toNanos(),
                (result, answer) -> told.accept(new Ending(result, answer)));
        running.put(pending.seq, attempt);
        attempt.start();
    }

    /** Gives all up. */
    void abandon(Problem why) {
        running.values().forEach(attempt -> attempt.abandon(why));
        running.clear();
    }
}

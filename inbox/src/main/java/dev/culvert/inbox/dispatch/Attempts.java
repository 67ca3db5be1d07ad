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

/** The attempts in progress. Belongs to the dispatcher's thread. */
final class Attempts {
    private static final Logger log = LoggerFactory.getLogger(Attempts.class);

    private final InboxSetup setup;
    private final InboxReads reads;
    private final LeaseTerm term;
    private final Map<Long, Attempt> running = new HashMap<>();

    /** @param reads reads contents that are no longer in memory */
    Attempts(InboxSetup setup, InboxReads reads, LeaseTerm term) {
        this.setup = setup;
        this.reads = reads;
        this.term = term;
    }

    /**
     * The end of an attempt.
     *
     * @param answer the response for the caller; null: there is no complete one
     */
    record Ending(AttemptResult result, @Nullable StoredAnswer answer) {}

    /**
     * Sends a webhook. One callback runs on the dispatcher's thread if the lease term lasts: {@code unread}
     * if nothing was sent.
     */
    void start(QueuedWebhook webhook, Consumer<Ending> ended, Runnable unread) {
        WebhookBody content = webhook.content;
        if (content != null) {
            send(webhook, content, ended);
            return;
        }
        reads.content(webhook.seq)
                .subscribe(term.only((WebhookBody read) -> send(webhook, read, ended)),
                        term.only((Throwable failed) -> {
                            log.atWarn()
                                    .addKeyValue("id", webhook.id)
                                    .addKeyValue("reason", failed.getMessage())
                                    .log("stored webhook could not be read");
                            unread.run();
                        }));
    }

    /** Sends on the caller's loop, if it still runs. */
    private void send(QueuedWebhook webhook, WebhookBody content, Consumer<Ending> ended) {
        webhook.reserved = false;
        Consumer<Ending> told = term.only((Ending ending) -> {
            running.remove(webhook.seq);
            ended.accept(ending);
        });
        EventLoop callers = webhook.loop;
        EventLoop loop = callers == null || callers.isShuttingDown() ? setup.loops().next() : callers;
        webhook.loop = null;
        var attempt = new Attempt(loop, setup.delivery().relayTo(webhook.runtime),
                StoredFields.decode(content.fields),
                new Numbered(webhook.id, webhook.begun), BodySource.of(content, reads.files()),
                Attempt.timeout(setup.config().attemptTimeout(), webhook.begun, content.size).toNanos(),
                (result, answer) -> told.accept(new Ending(result, answer)));
        running.put(webhook.seq, attempt);
        attempt.start();
    }

    /** Abandons all attempts. */
    void abandon(Problem why) {
        running.values().forEach(attempt -> attempt.abandon(why));
        running.clear();
    }
}

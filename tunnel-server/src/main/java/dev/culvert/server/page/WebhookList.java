package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.web.Format;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of the webhooks.
 *
 * @param rows the webhooks, the newest first
 * @param state the word of the wanted state, or empty
 * @param runtime the name of the wanted runtime, or empty
 * @param source the wanted event source, or empty
 * @param problem what is wrong with what was asked, or empty
 * @param isLater whether there are newer ones
 * @param next the path of the older ones, or empty
 * @param mayReplay whether the person may replay and pause
 * @param csrf the token of the session
 */
public record WebhookList(List<Row> rows, String state, String runtime, String source, String problem,
        boolean isLater, String next, boolean mayReplay, String csrf) {
    static final String PATH = "/webhooks";

    /** One webhook: neither fields nor body, which may hold secrets. */
    public record Row(String id, String runtime, String source, String method, String target, String size,
            String state, String tone, int attempts, int refused, String outcome, Instant stored,
            @Nullable Instant next,
            @Nullable Instant ended, boolean outOfOrder, boolean replayable) {
        static Row of(InboxEntry entry, String runtime) {
            return new Row(entry.id(), runtime, entry.source(), entry.method(), entry.target(),
                    Format.bytes(entry.bytes()), entry.state().word(), switch (entry.state()) {
                        case DELIVERED -> "good";
                        case PENDING -> entry.attempts() + entry.refused() > 0 ? "warn" : "";
                        case DEAD -> "bad";
                    }, entry.attempts(), entry.refused(),
                    entry.outcome().isEmpty() ? Format.NONE : entry.outcome(),
                    entry.stored(), entry.nextAttempt(), entry.ended(), entry.outOfOrder(),
                    entry.replayable() && entry.state() != WebhookState.PENDING);
        }
    }

    /** Whether webhooks of one event source are shown, which can be paused. */
    public boolean isOfSource() {
        return !runtime.isEmpty() && !source.isEmpty() && problem.isEmpty();
    }

    /** Whether a replay can take what is shown: pending ones are sent anyway. */
    public boolean canReplay() {
        return !rows.isEmpty() && !state.equals(WebhookState.PENDING.word())
                && (!state.isEmpty() || !source.isEmpty());
    }

    /** The path of the question before a pause. */
    public String pausePath() {
        return PATH + "/pause" + query();
    }

    /** The path of the replay of all that match. */
    public String replayPath() {
        return PATH + "/replay" + query();
    }

    /** The query of this list. */
    String query() {
        return "?state=" + RuntimeList.encoded(state) + "&runtime=" + RuntimeList.encoded(runtime)
                + "&source=" + RuntimeList.encoded(source);
    }
}

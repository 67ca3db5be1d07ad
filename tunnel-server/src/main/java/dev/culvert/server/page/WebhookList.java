package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.SourceBacklog;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.web.Format;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of the webhooks.
 *
 * @param rows the webhooks, the newest first
 * @param sources the event sources with undelivered webhooks, those with the most first
 * @param state the word of the wanted state, or empty
 * @param runtime the name of the wanted runtime, or empty
 * @param source the wanted event source, or empty
 * @param problem what is wrong with what was asked, or empty
 * @param isLater whether there are newer ones
 * @param next the path of the older ones, or empty
 * @param mayReplay whether the person may replay and pause
 * @param csrf the token of the session
 */
public record WebhookList(List<Row> rows, List<Source> sources, String state, String runtime, String source,
        String problem,
        boolean isLater, String next, boolean mayReplay, String csrf) {
    static final String PATH = "/webhooks";

    /** One webhook: neither fields nor body, which may hold secrets. */
    public record Row(String id, String runtime, String source, String method, String target, String size,
            String state, String tone, int attempts, int refused, String outcome, Instant stored,
            @Nullable Instant next,
            @Nullable Instant ended, boolean outOfOrder, boolean replayable) {
        /** The path of its page. */
        public String path() {
            return PATH + "/" + RuntimeList.encoded(id);
        }

        /** The path of the question before it is sent again. */
        public String replayPath() {
            return path() + "/replay";
        }

        /** The path of all webhooks of its event source. */
        public String sourcePath() {
            return ofSource(runtime, source);
        }

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

    /** Without event sources. */
    WebhookList(List<Row> rows, String state, String runtime, String source, String problem,
            boolean isLater, String next, boolean mayReplay, String csrf) {
        this(rows, List.of(), state, runtime, source, problem, isLater, next, mayReplay, csrf);
    }

    /**
     * An event source with undelivered webhooks.
     *
     * @param path the path of their list
     */
    public record Source(String runtime, String source, String pending, @Nullable Instant oldest,
            String dead, @Nullable Instant deadSince, String path) {
        static Source of(SourceBacklog backlog, String runtime) {
            return new Source(runtime, backlog.source(), Format.count(backlog.pending()), backlog.oldest(),
                    Format.count(backlog.dead()), backlog.deadSince(),
                    runtime.isEmpty() ? "" : ofSource(runtime, backlog.source()));
        }
    }

    private static String ofSource(String runtime, String source) {
        return PATH + "?state=&runtime=" + RuntimeList.encoded(runtime) + "&source="
                + RuntimeList.encoded(source);
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

    /** The query of this list, for links. */
    public String filter() {
        return query();
    }

    /** The query of this list. */
    String query() {
        return "?state=" + RuntimeList.encoded(state) + "&runtime=" + RuntimeList.encoded(runtime)
                + "&source=" + RuntimeList.encoded(source);
    }
}

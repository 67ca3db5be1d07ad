package dev.culvert.inbox.model;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What became of a webhook. */
public enum WebhookState {
    /** Stored, and to be delivered. */
    PENDING(0),
    /** The event source answered 2xx. */
    DELIVERED(1),
    /** The event source refused it for good, or failed for 7 days: kept for a replay. */
    DEAD(2);

    private static final WebhookState[] ALL = values();

    private final int number;

    WebhookState(int number) {
        this.number = number;
    }

    /** The word in the admin API and in metrics. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The state of that word; null: there is none. */
    public static @Nullable WebhookState of(String word) {
        for (WebhookState state : ALL) {
            if (state.word().equals(word)) {
                return state;
            }
        }
        return null;
    }

    /** As the database has it. */
    public int number() {
        return number;
    }

    public static WebhookState at(int number) {
        return ALL[number];
    }
}

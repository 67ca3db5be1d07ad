package dev.culvert.inbox.model;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The states of a webhook. */
public enum WebhookState {
    /** The webhook is stored and will be delivered. */
    PENDING(0),
    /** The event source answered 2xx. */
    DELIVERED(1),
    /** The event source refused it for good, or failed for 7 days. It is kept for a replay. */
    DEAD(2);

    private static final WebhookState[] ALL = values();

    private final int number;

    WebhookState(int number) {
        this.number = number;
    }

    /** The name of the state in the admin API and in metrics. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the state with this name; null: there is none. */
    public static @Nullable WebhookState of(String word) {
        for (WebhookState state : ALL) {
            if (state.word().equals(word)) {
                return state;
            }
        }
        return null;
    }

    /** The number of the state in the database. */
    public int number() {
        return number;
    }

    public static WebhookState at(int number) {
        return ALL[number];
    }
}

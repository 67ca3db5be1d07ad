package dev.culvert.inbox.model;

import java.util.Locale;

/**
 * A change of a webhook's state.
 *
 * @param kind the kind of change
 * @param id the webhook's id
 * @param runtimeId the runtime that receives it
 * @param source its event source
 * @param attempts the number of attempts so far
 * @param outcome the result of the attempt; empty if there is none
 */
public record InboxEvent(Kind kind, String id, String runtimeId, String source, int attempts,
        String outcome) {
    /** The kinds of change. */
    public enum Kind {
        STORED, DELIVERED, FAILED, DEAD, REPLAYED, DELETED;

        /** The name of the kind in the admin API. */
        public String word() {
            return "webhook-" + name().toLowerCase(Locale.ROOT);
        }
    }
}

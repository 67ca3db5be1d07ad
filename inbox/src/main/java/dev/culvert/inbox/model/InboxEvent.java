package dev.culvert.inbox.model;

import java.util.Locale;

/**
 * Something that happened to a webhook.
 *
 * @param kind what
 * @param id of the webhook
 * @param runtimeId the runtime it is for
 * @param source its event source
 * @param attempts how often it was sent by now
 * @param outcome the answer in words; empty when there is none
 */
public record InboxEvent(Kind kind, String id, String runtimeId, String source, int attempts,
        String outcome) {
    /** What happened. */
    public enum Kind {
        STORED, DELIVERED, FAILED, DEAD, REPLAYED, DELETED;

        /** The word in the admin API. */
        public String word() {
            return "webhook-" + name().toLowerCase(Locale.ROOT);
        }
    }
}

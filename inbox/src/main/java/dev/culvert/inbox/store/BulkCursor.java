package dev.culvert.inbox.store;

import dev.culvert.inbox.model.WebhookState;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The position of a change of many webhooks. It holds the moment at which the change began: webhooks that
 * enter a state or are appended to a queue afterwards are not part of it, so that none is changed twice.
 *
 * @param moment the time at which the change began
 * @param last the newest sequence number at that time
 * @param state the state whose webhooks are changed now
 * @param seq the sequence number of the last webhook that was changed
 */
public record BulkCursor(long moment, long last, WebhookState state, long seq) {
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})-([0-2])-([0-9]{1,18})");

    /** Returns the position behind a webhook. */
    public BulkCursor after(long done) {
        return new BulkCursor(moment, last, state, done);
    }

    /** Returns the position before the webhooks of another state. */
    BulkCursor in(WebhookState next) {
        return new BulkCursor(moment, last, next, 0);
    }

    /** Reads {@link #toString}. Throws IllegalArgumentException for any other text. */
    public static BulkCursor parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("next: not that of a response (expected: as it was returned)");
        }
        return new BulkCursor(Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2)),
                WebhookState.at(Integer.parseInt(parts.group(3))), Long.parseLong(parts.group(4)));
    }

    @Override
    public String toString() {
        return moment + "-" + last + "-" + state.number() + "-" + seq;
    }
}

package dev.culvert.inbox.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list, newest first.
 *
 * @param entries at most as many as were asked for
 * @param next what {@link InboxQuery#after} says for the next page; null: this was the last
 */
public record InboxPage(List<InboxEntry> entries, @Nullable String next) {
    public InboxPage {
        entries = List.copyOf(entries);
    }
}

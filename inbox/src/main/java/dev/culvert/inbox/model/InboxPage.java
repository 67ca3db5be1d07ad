package dev.culvert.inbox.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list, newest first.
 *
 * @param entries the entries, at most as many as requested
 * @param next the value of {@link InboxQuery#after} for the next page; null: this is the last page
 */
public record InboxPage(List<InboxEntry> entries, @Nullable String next) {
    public InboxPage {
        entries = List.copyOf(entries);
    }
}

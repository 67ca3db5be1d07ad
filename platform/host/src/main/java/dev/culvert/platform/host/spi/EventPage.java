package dev.culvert.platform.host.spi;

import java.util.List;

/**
 * The events after a position.
 *
 * @param next the position to read from next
 * @param reset whether events after the position were deleted unread: anything may have changed
 * @param more whether more can be read at once
 */
public record EventPage(long next, boolean reset, boolean more, List<Event> events) {
    public EventPage {
        events = List.copyOf(events);
    }
}

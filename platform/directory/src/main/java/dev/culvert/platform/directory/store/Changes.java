package dev.culvert.platform.directory.store;

import dev.culvert.platform.host.spi.EventPage;
import java.util.List;

/**
 * The changes of an account since a client's last read.
 *
 * @param next the position of the next read
 * @param reset whether older changes were deleted unread: anything may have changed
 * @param more whether more changes can be read at once
 */
public record Changes(long next, boolean reset, boolean more, List<Change> changes) {
    public Changes {
        changes = List.copyOf(changes);
    }

    static Changes of(EventPage page) {
        return new Changes(page.next(), page.reset(), page.more(), page.events()
                .stream()
                .map(event -> new Change(event.seq(), event.kind(), event.subject()))
                .toList());
    }
}

package dev.culvert.platform.host.store;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What belongs to a change beside the rows of modules. Confined to the thread that runs the change. */
final class PlatformChange {
    private final List<NewEvent> events = new ArrayList<>();
    private boolean hasMessages;

    /** An event that has no number yet. */
    record NewEvent(String account, String module, String kind, @Nullable String subject) {}

    void add(NewEvent event) {
        events.add(event);
    }

    /** The events of the change, in the order in which they were added. */
    List<NewEvent> events() {
        return events;
    }

    void addedMessage() {
        hasMessages = true;
    }

    /** Whether it added messages to the outbox. */
    boolean hasMessages() {
        return hasMessages;
    }
}

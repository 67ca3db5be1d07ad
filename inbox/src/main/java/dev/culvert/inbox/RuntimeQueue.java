package dev.culvert.inbox;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** The event sources of one runtime that have something to deliver, and whose turn it is. Of the dispatcher's thread. */
final class RuntimeQueue {
    final String id;
    final Map<String, SourceQueue> sources = new HashMap<>();
    /** Those that may have something to send now. */
    final Deque<SourceQueue> turn = new ArrayDeque<>();
    int flying;
    /** Whether it stands in the turn of runtimes. */
    boolean queued;
    /** Whether its tunnel is missing. */
    boolean away;

    RuntimeQueue(String id) {
        this.id = id;
    }
}

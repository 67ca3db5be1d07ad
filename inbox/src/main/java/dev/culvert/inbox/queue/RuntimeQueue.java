package dev.culvert.inbox.queue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** The event sources of one runtime that have something to deliver, and whose turn it is. Of the dispatcher's thread. */
public final class RuntimeQueue {
    public final String id;
    final Map<String, SourceQueue> sources = new HashMap<>();
    /** Those that may have something to send now. */
    final Deque<SourceQueue> turn = new ArrayDeque<>();
    /** Those of {@link #turn} that wait until another source that is not known to be quick has ended an attempt. */
    final Deque<SourceQueue> unproven = new ArrayDeque<>();
    int flying;
    /** Attempts under way of sources that are not known to be quick. */
    int unprovenFlying;
    /** Whether it stands in {@link RuntimeTurns}. */
    boolean queued;
    /** Whether its tunnel is missing. */
    boolean away;

    RuntimeQueue(String id) {
        this.id = id;
    }
}

package dev.culvert.inbox.queue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * The event sources of one runtime with webhooks to deliver, and their turns. Belongs to the dispatcher's
 * thread.
 */
public final class RuntimeQueue {
    public final String id;
    final Map<String, SourceQueue> sources = new HashMap<>();
    /** The sources that may have a webhook to send now. */
    final Deque<SourceQueue> turn = new ArrayDeque<>();
    /** The sources, not known to be fast, that wait until another such source has ended an attempt. */
    final Deque<SourceQueue> unproven = new ArrayDeque<>();
    int flying;
    /** The number of attempts in progress at sources that are not known to be fast. */
    int unprovenFlying;
    /** Whether it is queued in {@link RuntimeTurns}. */
    boolean queued;
    /** Whether its tunnel is not connected. */
    boolean away;

    RuntimeQueue(String id) {
        this.id = id;
    }
}

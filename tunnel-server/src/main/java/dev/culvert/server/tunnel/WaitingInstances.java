package dev.culvert.server.tunnel;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The instances that wait for one runtime while another one owns its tunnel, in the order of their promotion:
 * the highest priority first, of equals the one that has waited longest. {@link Ownership} decides by this
 * interface alone, so that an implementation may also know the waiting instances of other servers. Guarded by
 * the tunnel.
 */
interface WaitingInstances {
    /** The maximum for one runtime. */
    int MAX = 4;

    /**
     * Adds an instance. One that waits already keeps its place among those of its priority.
     *
     * @return false if {@link #MAX} others wait
     */
    boolean add(UUID instance, int priority);

    /** Removes an instance; does nothing if it does not wait. */
    void remove(UUID instance);

    /** The instance to promote first; null if none waits. */
    @Nullable
    UUID first();
}

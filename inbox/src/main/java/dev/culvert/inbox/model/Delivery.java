package dev.culvert.inbox.model;

import dev.culvert.inbox.Inbox;
import dev.culvert.relay.Relay;

/**
 * The routes to the event sources, provided by the part that owns the inbox. All methods may be called on any
 * thread, and none blocks.
 */
public interface Delivery {
    /**
     * Returns the relay to a runtime. Its exchanges fail with {@code no-tunnel} while the runtime is not
     * connected, and with {@code upstream-refused} while its event source is away. Neither failure counts as
     * an attempt.
     */
    Relay relayTo(String runtimeId);

    /**
     * Whether an attempt can reach the runtime now. When this becomes true again, the owner calls
     * {@link Inbox#reachable}. The inbox also checks from time to time.
     */
    boolean isReachable(String runtimeId);
}

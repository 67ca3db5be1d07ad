package dev.culvert.inbox.model;

import dev.culvert.inbox.Inbox;
import dev.culvert.relay.Relay;

/** Where webhooks go: given by the part that owns the inbox. All methods may be called on any thread, and none blocks. */
public interface Delivery {
    /**
     * The way to a runtime. What is opened there fails with {@code no-tunnel} while the runtime is not connected, and with
     * {@code upstream-refused} while its event source is not there: neither uses up an attempt.
     */
    Relay relayTo(String runtimeId);

    /**
     * Whether it makes sense to try now. When this becomes true again the owner calls {@link Inbox#reachable}; the inbox asks
     * from time to time all the same.
     */
    boolean isReachable(String runtimeId);
}

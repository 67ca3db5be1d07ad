package dev.culvert.server.runtime;

import java.util.Locale;

/** The state of a runtime's tunnel. */
public enum TunnelState {
    /** At least one session carries the tunnel. */
    CONNECTED,
    /** The tunnel was lost a short time ago. Requests are still held for it. */
    RECONNECTING,
    /** There is no tunnel. */
    DISCONNECTED;

    /** The word in the JSON. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}

package dev.culvert.server.runtime;

import java.util.Locale;

/** How a runtime's tunnel is. */
public enum TunnelState {
    /** At least one session carries it. */
    CONNECTED,
    /** Lost a short time ago: requests still wait for it. */
    RECONNECTING,
    /** Not there. */
    DISCONNECTED;

    /** The word in the JSON. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}

package dev.culvert.edge;

import org.jspecify.annotations.Nullable;

/**
 * Whether a part can do its work now, as {@code /readyz} tells.
 *
 * @param reason why not, for an operator; null when ready
 */
public record Readiness(@Nullable String reason) {
    /** Ready to work. */
    public static final Readiness READY = new Readiness(null);

    /** Not ready, and why. */
    public static Readiness notReady(String reason) {
        return new Readiness(reason);
    }

    public boolean ready() {
        return reason == null;
    }
}

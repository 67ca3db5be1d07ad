package dev.culvert.edge.caller;

import org.jspecify.annotations.Nullable;

/**
 * What an edge tells about each request, as configured.
 *
 * @param accessLog null: none
 * @param serverTiming whether responses tell callers the time spent per hop
 */
public record Reports(@Nullable AccessLog accessLog, boolean serverTiming) {
    /** Nothing. */
    public static final Reports NONE = new Reports(null, false);
}

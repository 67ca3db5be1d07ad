package dev.culvert.relay.exchange;

import org.jspecify.annotations.Nullable;

/**
 * What an edge tells about each request, as configured.
 *
 * @param accessLog null: none
 * @param serverTiming whether responses tell callers the time spent per hop
 */
public record EdgeReporting(@Nullable AccessLog accessLog, boolean serverTiming) {
    /** Nothing. */
    public static final EdgeReporting NONE = new EdgeReporting(null, false);
}

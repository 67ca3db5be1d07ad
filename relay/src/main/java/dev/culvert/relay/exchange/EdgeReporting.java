package dev.culvert.relay.exchange;

import org.jspecify.annotations.Nullable;

/**
 * The configured reports about each request.
 *
 * @param accessLog the access log; null: none
 * @param serverTiming whether responses carry the time spent per hop
 */
public record EdgeReporting(@Nullable AccessLog accessLog, boolean serverTiming) {
    /** Reports nothing. */
    public static final EdgeReporting NONE = new EdgeReporting(null, false);
}

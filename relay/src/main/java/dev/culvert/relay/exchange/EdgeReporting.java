package dev.culvert.relay.exchange;

import dev.culvert.relay.observe.RequestLog;
import org.jspecify.annotations.Nullable;

/**
 * The configured reports about each request.
 *
 * @param accessLog the access log; null: none
 * @param serverTiming whether responses carry the time spent per hop
 * @param requests keeps requests for operators; null: none are kept
 */
public record EdgeReporting(@Nullable AccessLog accessLog, boolean serverTiming,
        @Nullable RequestLog requests) {
    /** Reports nothing. */
    public static final EdgeReporting NONE = new EdgeReporting(null, false, null);
}

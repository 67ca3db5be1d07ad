package dev.culvert.server.runtime;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one live session, for the admin API.
 *
 * @param id the session's id, unique in this process
 * @param runtimeId the runtime whose tunnel it carries
 * @param generation the instance's generation; the highest owns the tunnel
 * @param state {@code open} or {@code draining}
 * @param since when it was established
 * @param rttSeconds the last round trip in seconds; not a number before the first
 * @param streams open streams
 * @param remote the client's address and port
 * @param version the client's version
 * @param certificateUntil when the client's certificate ends; null: not known yet
 */
public record SessionView(
        String id,
        String runtimeId,
        long generation,
        String state,
        Instant since,
        double rttSeconds,
        int streams,
        String remote,
        String version,
        @Nullable Instant certificateUntil) {
    /** A session whose certificate is not known yet. */
    public SessionView(String id, String runtimeId, long generation, String state, Instant since,
            double rttSeconds, int streams, String remote, String version) {
        this(id, runtimeId, generation, state, since, rttSeconds, streams, remote, version, null);
    }
}

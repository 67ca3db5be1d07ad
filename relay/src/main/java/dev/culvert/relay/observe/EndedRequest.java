package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import org.jspecify.annotations.Nullable;

/**
 * A request that has ended, with its texts as received, cut to the length of the access log. Immutable.
 * Converting it to a {@link RequestRecord} costs more than keeping it.
 */
public interface EndedRequest {
    CharSequence requestId();

    /** {@code account/name}; empty if no runtime has the host. */
    String runtime();

    /** The caller's address. */
    String caller();

    /** The path without the query. */
    CharSequence path();

    /** The status; 0: the caller left before a response. */
    int status();

    /** The gateway's problem; null: none. */
    @Nullable
    Problem problem();

    /** The time from the complete head to the end. */
    long totalMicros();

    /** The number of characters of all texts. */
    int textLength();

    /** Converts the request for readers. */
    RequestRecord toRecord(String id);
}

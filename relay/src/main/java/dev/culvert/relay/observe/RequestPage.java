package dev.culvert.relay.observe;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of requests, newest first.
 *
 * @param next the id after which the next page begins; null when this is the last page
 * @param allSince the moment from which all requests are kept, as {@code 2027-01-01T08:00:17Z}; only
 *     problems are kept from before
 */
public record RequestPage(List<RequestRecord> items, @Nullable String next, String allSince) {
    public RequestPage {
        items = List.copyOf(items);
    }
}

package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeRequest;
import java.util.Map;

/**
 * A request for a page by a person who has logged in.
 *
 * @param http the request; its context has the person as its caller
 * @param session the session
 * @param segments the varying segments of the path, as received
 * @param query the fields of the query
 * @param form the fields of the form that was sent; none for GET
 */
public record PageRequest(EdgeRequest http, WebSession session, Map<String, String> segments,
        FormFields query, FormFields form) {
    /** A segment of the path, or an empty text. */
    public String segment(String name) {
        return segments.getOrDefault(name, "");
    }

    /** Whether a script of the page asks, for a part of it. */
    public boolean isPartial() {
        return http.headers().contains("hx-request");
    }
}

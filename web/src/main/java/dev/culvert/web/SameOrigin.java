package dev.culvert.web;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;

/** Judges whether a form was sent by a page of this site, by the fields that browsers set. */
final class SameOrigin {
    private SameOrigin() {}

    /**
     * Whether the browser says so: {@code Sec-Fetch-Site}, which browsers send to trustworthy addresses, else
     * {@code Origin}. Without both it is not.
     */
    static boolean of(HttpHeaders headers) {
        String site = headers.get("sec-fetch-site");
        if (site != null) {
            return site.equals("same-origin");
        }
        String origin = headers.get(HttpHeaderNames.ORIGIN);
        String host = headers.get(HttpHeaderNames.HOST);
        return origin != null && host != null
                && (origin.equalsIgnoreCase("http://" + host) || origin.equalsIgnoreCase("https://" + host));
    }
}

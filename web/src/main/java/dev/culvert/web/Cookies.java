package dev.culvert.web;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;

/** Reads the {@code Cookie} field. */
final class Cookies {
    private Cookies() {}

    /** The value of the first cookie with a name, or an empty text. */
    static String value(HttpHeaders headers, String name) {
        for (String line : headers.getAll(HttpHeaderNames.COOKIE)) {
            for (String pair : line.split(";", -1)) {
                int equals = pair.indexOf('=');
                if (equals > 0 && pair.substring(0, equals).strip().equals(name)) {
                    return pair.substring(equals + 1).strip();
                }
            }
        }
        return "";
    }
}

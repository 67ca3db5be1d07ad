package dev.culvert.web;

import io.netty.handler.codec.http.HttpHeaders;

/** The choice between light and dark pages, kept in a cookie. */
final class Theme {
    private static final String NAME = "culvert-theme";

    private Theme() {}

    /** {@code light}, {@code dark}, or {@code auto} for the system's choice. */
    static String of(HttpHeaders headers) {
        return checked(Cookies.value(headers, NAME));
    }

    static String cookie(String theme) {
        return NAME + "=" + checked(theme) + "; Path=/; Max-Age=31536000; SameSite=Strict; HttpOnly";
    }

    private static String checked(String theme) {
        return theme.equals("light") || theme.equals("dark") ? theme : "auto";
    }
}

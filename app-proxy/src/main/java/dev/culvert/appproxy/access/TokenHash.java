package dev.culvert.appproxy.access;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A caller's token and its cache key, a SHA-256, so the cache contains no token. Prints as {@code ***}.
 *
 * @param text the token, for the query about it
 * @param hash its key in the cache
 */
record TokenHash(String text, String hash) {
    /** The maximum length of a token; longer ones are refused. */
    private static final int MAX_CHARS = 4096;

    /**
     * Reads {@code Authorization}, bare or after {@code Bearer}, else {@code x-access-token}. Throws
     * HandlerException UNAUTHORIZED.
     */
    static TokenHash of(HttpHeaders headers) {
        String field = headers.get(HttpHeaderNames.AUTHORIZATION);
        String token = field == null ? headers.get("x-access-token") : bare(field);
        if (token == null || token.isEmpty()) {
            throw refused("an API key is needed in Authorization");
        }
        if (token.length() > MAX_CHARS || token.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw refused("that is no API key");
        }
        return new TokenHash(token, sha256(token));
    }

    /**
     * Whether the token is a runtime token, which is valid for one runtime and a limited time. A runtime
     * token is a JWT with two dots; an API key has one.
     */
    boolean isRuntimeToken() {
        return text.chars().filter(c -> c == '.').count() == 2;
    }

    static HandlerException refused(String detail) {
        return HandlerException.of(Reason.UNAUTHORIZED, detail);
    }

    private static String bare(String field) {
        return field.regionMatches(true, 0, "Bearer ", 0, 7) ? field.substring(7).strip() : field.strip();
    }

    /** The SHA-256 in hexadecimal digits. */
    static String sha256(String token) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256")
                            .digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "***";
    }
}

package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Reads tokens from header fields. */
final class StandInCredentials {
    private StandInCredentials() {}

    /** The credentials after one of the schemes in {@code Authorization}, or null. */
    static @Nullable String authorization(Headers fields, String... schemes) {
        String field = fields.getFirst("Authorization");
        for (String scheme : schemes) {
            if (field != null && field.regionMatches(true, 0, scheme + " ", 0, scheme.length() + 1)) {
                return field.substring(scheme.length() + 1).strip();
            }
        }
        return null;
    }

    /** The password of basic authentication, or null. */
    static @Nullable String password(Headers fields) {
        String basic = authorization(fields, "Basic");
        if (basic == null) {
            return null;
        }
        String pair = new String(Base64.getDecoder().decode(basic), StandardCharsets.UTF_8);
        int colon = pair.indexOf(':');
        return colon < 0 ? null : pair.substring(colon + 1);
    }

    /** A bearer token, or the password of basic authentication, or null. */
    static @Nullable String bearerOrPassword(Headers fields) {
        String bearer = authorization(fields, "Bearer");
        return bearer != null ? bearer : password(fields);
    }
}

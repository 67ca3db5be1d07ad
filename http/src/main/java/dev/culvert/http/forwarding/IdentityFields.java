package dev.culvert.http.forwarding;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Request fields by which one part of the platform tells another who the caller is: {@code
 * X-Authenticated-Entity-Json} and all others whose names begin with {@code X-Authenticated-}. A caller may
 * not send them to a service beside the platform, which would believe them.
 */
public final class IdentityFields {
    /** The start of the names, in the form that {@link #alike} compares with. */
    private static final String BEGIN = "x-authenticated-";

    private IdentityFields() {}

    /**
     * Removes these fields, in any case, and names that differ from them only by another character for {@code
     * -}: CGI gateways treat all characters alike that are no letters or digits.
     */
    public static void remove(Http2Headers fields) {
        @Nullable
        List<CharSequence> found = null;
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            if (isOne(field.getKey())) {
                found = found == null ? new ArrayList<>(2) : found;
                found.add(field.getKey());
            }
        }
        if (found != null) {
            found.forEach(fields::remove);
        }
    }

    private static boolean isOne(CharSequence name) {
        if (name.length() < BEGIN.length()) {
            return false;
        }
        for (int i = 0; i < BEGIN.length(); i++) {
            if (alike(name.charAt(i)) != BEGIN.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The character in lower case; {@code -} for all that are no letters or digits. */
    private static char alike(char c) {
        if (c >= 'A' && c <= 'Z') {
            return (char) (c | ' ');
        }
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
    }
}

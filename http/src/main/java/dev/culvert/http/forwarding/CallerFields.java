package dev.culvert.http.forwarding;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Request header fields that only a gateway may set. The values that callers send are removed before a
 * request is processed.
 */
public final class CallerFields {
    /** The subject of the caller's certificate or token. */
    public static final AsciiString SUBJECT = AsciiString.cached("culvert-caller-subject");
    /** The SHA-256 of the caller's certificate, in hexadecimal digits. */
    public static final AsciiString CERTIFICATE = AsciiString.cached("culvert-caller-certificate");

    /** The id of a webhook. On a request it states that an inbox has already stored the webhook. */
    public static final AsciiString WEBHOOK_ID = AsciiString.cached("culvert-webhook-id");
    /** The number of delivery attempts of that inbox, including this one. */
    public static final AsciiString DELIVERY_ATTEMPT = AsciiString.cached("culvert-delivery-attempt");

    private CallerFields() {}

    /**
     * Removes these fields and names that differ from them only by {@code _} for {@code -}: a CGI gateway
     * treats both characters alike.
     *
     * @param believed whether the peer may state that its own inbox has stored the webhook
     */
    public static void remove(Http2Headers fields, boolean believed) {
        @Nullable
        List<CharSequence> found = null;
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            CharSequence name = field.getKey();
            if (begins(name) && isReserved(name, believed)) {
                found = found == null ? new ArrayList<>(2) : found;
                found.add(name);
            }
        }
        if (found != null) {
            found.forEach(fields::remove);
        }
    }

    private static boolean isReserved(CharSequence name, boolean believed) {
        if (isAlike(name, SUBJECT) || isAlike(name, CERTIFICATE)) {
            return true;
        }
        return (isAlike(name, WEBHOOK_ID) || isAlike(name, DELIVERY_ATTEMPT))
                && !(believed && AsciiString.indexOf(name, '_', 0) < 0);
    }

    /** A cheap test that rejects most other names. */
    private static boolean begins(CharSequence name) {
        return name.length() >= WEBHOOK_ID.length() && (name.charAt(1) | ' ') == 'u'
                && (name.charAt(2) | ' ') == 'l';
    }

    private static boolean isAlike(CharSequence name, AsciiString field) {
        if (name.length() != field.length()) {
            return false;
        }
        for (int i = 0; i < field.length(); i++) {
            char c = name.charAt(i);
            if ((c == '_' ? '-' : c | ' ') != field.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}

package dev.culvert.relay.outbound;

import dev.culvert.http.fields.FieldText;
import dev.culvert.http.forwarding.ForwardingRules;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Map;

/** Interprets the head of an upstream's HTTP/2 response, and converts it for forwarding. */
final class Http2UpstreamResponse {
    private Http2UpstreamResponse() {}

    /**
     * Returns the status, or -1 if HTTP/2 does not allow the head. 101 is not allowed: HTTP/2 has no protocol
     * switch (RFC 9113 §8.6).
     */
    static int status(Http2Headers head) {
        CharSequence status = head.status();
        if (status == null || status.length() != 3 || !areValid(head)) {
            return -1;
        }
        int code = 0;
        for (int i = 0; i < 3; i++) {
            int digit = status.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            code = code * 10 + digit;
        }
        return code < 100 || code == 101 ? -1 : code;
    }

    /** Whether a trailer section is valid and may be forwarded. */
    static boolean areTrailers(Http2Headers trailers) {
        return trailers.status() == null && areValid(trailers);
    }

    /** Returns a head, or a trailer section, without the fields for this hop only. */
    static Http2Headers passed(Http2Headers received) {
        ForwardingRules.response(received, false);
        return received;
    }

    /** Whether no field contains a line break, which the next hop could misread if it speaks HTTP/1.1. */
    private static boolean areValid(Http2Headers fields) {
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            CharSequence name = field.getKey();
            boolean status = ":status".contentEquals(name);
            if (!(status || FieldText.isToken(name)) || !FieldText.isText(field.getValue(), ' ')) {
                return false;
            }
        }
        return true;
    }
}

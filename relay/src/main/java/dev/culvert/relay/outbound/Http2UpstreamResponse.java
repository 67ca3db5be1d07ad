package dev.culvert.relay.outbound;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.relay.upstream.FieldText;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Map;

/** What an upstream's response head says in HTTP/2, and how it is passed on. */
final class Http2UpstreamResponse {
    /** The edge's 100 and 32 more, as gateways on the way add some; and the status. */
    private static final int MAX_FIELDS = 133;

    private Http2UpstreamResponse() {}

    /** The status, or -1 when the head is none that HTTP/2 allows. 101 is not: nothing is switched (RFC 9113 §8.6). */
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

    /** Whether a trailer section may cross. */
    static boolean areTrailers(Http2Headers trailers) {
        return trailers.status() == null && areValid(trailers);
    }

    /** A head, or a trailer section, without what is meant for this hop only. */
    static Http2Headers passed(Http2Headers received) {
        ForwardingRules.response(received, false);
        return received;
    }

    /** Whether a final response has no body (RFC 9110 §6.4.1). */
    static boolean isBodiless(int status, boolean toHead) {
        return toHead || status == 204 || status == 304;
    }

    /** The next hop may be one that speaks HTTP/1.1: nothing may end a line there. */
    private static boolean areValid(Http2Headers fields) {
        if (fields.size() > MAX_FIELDS) {
            return false;
        }
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

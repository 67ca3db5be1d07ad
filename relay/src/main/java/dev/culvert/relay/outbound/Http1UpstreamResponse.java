package dev.culvert.relay.outbound;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.SpelledNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http2.Http2Headers;

/** Interprets the head of an upstream's HTTP/1.1 response, and converts it for forwarding. */
final class Http1UpstreamResponse {
    private static final int NO_CONTENT = 204;

    private Http1UpstreamResponse() {}

    /** Whether a final response has no body for its asker. */
    static boolean isBodiless(HttpResponse response, boolean toHead) {
        return ContentLength.isBodiless(response.status().code(), toHead)
                || "0".equals(response.headers().get("content-length"));
    }

    /** Whether the end of the connection ends the message (RFC 9112 §6.3). */
    static boolean endsWithConnection(HttpResponse response, boolean toHead) {
        int status = response.status().code();
        boolean framed = toHead || status == NO_CONTENT || status == 304
                || response.headers().contains("content-length")
                || response.headers().contains("transfer-encoding");
        return !framed;
    }

    /** Returns the head without the fields for this hop only, and a 204 without a length (RFC 9110 §8.6). */
    static Http2Headers of(HttpResponse response, boolean upgrade) {
        Http2Headers head = fields(response.headers(), 1).status(response.status().codeAsText());
        ForwardingRules.response(head, upgrade);
        if (response.status().code() == NO_CONTENT) {
            head.remove("content-length");
        }
        return head;
    }

    /** Returns a trailer section without the fields for this hop only. */
    static Http2Headers trailers(HttpHeaders received) {
        Http2Headers trailers = fields(received, 0);
        ForwardingRules.response(trailers, false);
        return trailers;
    }

    private static Http2Headers fields(HttpHeaders received, int more) {
        var fields = new HeadFields(received.size() + more);
        SpelledNames.add(received, fields);
        return fields;
    }
}

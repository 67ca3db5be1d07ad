package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.SpelledNames;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;

/**
 * The head of an HTTP/1.1 request, validated and converted to the relay's form. How it frames its body was
 * judged before it was decoded.
 *
 * @param fields lower-case names, pseudo-fields first; hop-by-hop fields are still present
 * @param host the requested host, as sent
 * @param upgrade whether it asks for a WebSocket
 */
public record EdgeRequestHead(Http2Headers fields, String host, boolean upgrade) {
    private static final AsciiString HOST = AsciiString.cached("host");
    private static final AsciiString WEBSOCKET = AsciiString.cached("websocket");
    /** Room for pseudo-fields and for fields added by forwarding. */
    private static final int EXTRA_FIELDS = 16;

    /** Converts a decoded request. Throws EdgeException with the caller's fault. */
    public static EdgeRequestHead of(HttpRequest request, CharSequence scheme, CallerLimits limits) {
        if (request.decoderResult().isFailure()) {
            throw new EdgeException(
                    JudgedRequestDecoder.problem(request.decoderResult().cause(), Hop.EDGE));
        }
        HttpHeaders headers = request.headers();
        RequestTarget.requireWithin(limits, headers.size(), request.uri());
        HttpMethod method = request.method();
        TargetForm.requireServed(method.name());
        // HTTP/1.0 without Host cannot be routed either
        String host = TargetForm.host(headers.getAll(HOST));
        String path = TargetForm.path(request.uri(), method, host);
        boolean upgrade = asksForWebSocket(request);
        var fields = new HeadFields(headers.size() + EXTRA_FIELDS);
        fields.method(method.asciiName()).scheme(scheme).authority(host).path(path);
        SpelledNames.add(headers, fields);
        fields.remove(HOST);
        if (upgrade) {
            fields.set("upgrade", WEBSOCKET);
        }
        if (!ContentLength.announcesContent(request)
                || request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
            dropExpectation(fields);
        }
        return new EdgeRequestHead(fields, host, upgrade);
    }

    /** Returns the declared length of the body, which was checked during decoding; 0 if none is declared. */
    long bodyBytes() {
        CharSequence length = fields.get("content-length");
        return length == null ? 0 : Math.max(0, ContentLength.parse(length));
    }

    /**
     * Whether the request asks for a WebSocket (RFC 9110 §7.8, RFC 6455 §4.1). Any other Upgrade is dropped
     * with the hop-by-hop fields.
     */
    private static boolean asksForWebSocket(HttpRequest request) {
        HttpHeaders headers = request.headers();
        return request.method().equals(HttpMethod.GET)
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1)
                && headers.containsValue("connection", "upgrade", true)
                && headers.containsValue("upgrade", "websocket", true)
                && !ContentLength.announcesContent(request);
    }

    /**
     * Removes an expectation that must be ignored (RFC 9110 §10.1.1): HTTP/1.0 has none, and a request
     * without a body has no use for one.
     */
    private static void dropExpectation(Http2Headers fields) {
        CharSequence expected = fields.get("expect");
        if (expected != null && AsciiString.contentEqualsIgnoreCase(expected, "100-continue")) {
            fields.remove("expect");
        }
    }
}

package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.fields.JudgedMessage;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

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
            throw new EdgeException(undecodable(request.decoderResult().cause()));
        }
        HttpHeaders headers = request.headers();
        RequestTarget.requireWithin(limits, headers.size(), request.uri());
        HttpMethod method = request.method();
        RequestTarget.requireServed(method.name());
        String host = host(request);
        String path = path(request, host);
        boolean upgrade = asksForWebSocket(request);
        Http2Headers fields = new DefaultHttp2Headers(false, headers.size() + EXTRA_FIELDS);
        fields.method(method.asciiName()).scheme(scheme).authority(host).path(path);
        for (Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence(); all
                .hasNext();) {
            Map.Entry<CharSequence, CharSequence> field = all.next();
            AsciiString name = AsciiString.of(field.getKey()).toLowerCase();
            if (!name.contentEquals(HOST)) {
                fields.add(name, field.getValue());
            }
        }
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

    private static Problem undecodable(Throwable cause) {
        return switch (cause) {
            case TooLongHttpLineException e ->
                Problem.of(Cause.URI_TOO_LONG, Hop.EDGE, "the request line is too long");
            case TooLongHttpHeaderException e ->
                Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE, "the head is too large");
            case TooLongFrameException e ->
                Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE, "the head is too large");
            case JudgedMessage.Fault e ->
                Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
                        "the request is not valid HTTP/1.1: " + e.getMessage());
            default -> Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the request is not valid HTTP/1.1");
        };
    }

    /**
     * Returns the host. RFC 9112 §3.2 requires exactly one valid Host. HTTP/1.0 without it cannot be routed
     * either.
     */
    private static String host(HttpRequest request) {
        List<String> hosts = request.headers().getAll(HOST);
        if (hosts.size() != 1 || !RequestTarget.isAuthority(hosts.getFirst())) {
            throw problem(Cause.BAD_REQUEST, "one valid Host field is needed");
        }
        return hosts.getFirst();
    }

    /**
     * Returns the path of the target (RFC 9112 §3.2): origin-form, absolute-form with the authority of Host,
     * or {@code *} for OPTIONS.
     */
    private static String path(HttpRequest request, String host) {
        String target = request.uri();
        if (target.startsWith("/") || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))) {
            return RequestTarget.checked(target);
        }
        int start = target.indexOf("://");
        String scheme = start < 0 ? "" : target.substring(0, start);
        if (!scheme.equalsIgnoreCase("http") && !scheme.equalsIgnoreCase("https")) {
            throw problem(Cause.BAD_REQUEST, "the target is neither a path nor an absolute http(s) URI");
        }
        int path = start + 3;
        while (path < target.length() && target.charAt(path) != '/' && target.charAt(path) != '?') {
            path++;
        }
        if (!target.substring(start + 3, path).equalsIgnoreCase(host)) {
            throw problem(Cause.BAD_REQUEST, "the target's authority differs from the Host field");
        }
        String rest = target.substring(path);
        return RequestTarget.checked(rest.startsWith("/") ? rest : "/" + rest);
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

    private static EdgeException problem(Cause cause, String detail) {
        return RequestTarget.problem(cause, detail);
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

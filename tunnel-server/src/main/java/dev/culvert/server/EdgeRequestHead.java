package dev.culvert.server;

import dev.culvert.edge.EdgeException;
import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
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
 * The head of an HTTP/1.1 request, checked and turned into the relay's form.
 *
 * @param fields lower-case names, pseudo-fields first; hop-by-hop fields still there
 * @param host the host asked for, as sent
 * @param upgrade whether it asks for a WebSocket
 */
record EdgeRequestHead(Http2Headers fields, String host, boolean upgrade) {
    private static final AsciiString HOST = AsciiString.cached("host");
    private static final AsciiString TRANSFER_ENCODING = AsciiString.cached("transfer-encoding");
    private static final AsciiString WEBSOCKET = AsciiString.cached("websocket");
    /** Pseudo-fields and what forwarding adds. */
    private static final int EXTRA_FIELDS = 16;
    /** The longest name, a trailing dot and a port. */
    private static final int MAX_AUTHORITY = 254 + 6;

    /** Reads a decoded request. Throws EdgeException with the caller's fault. */
    static EdgeRequestHead of(HttpRequest request, CharSequence scheme, CallerLimits limits) {
        if (request.decoderResult().isFailure()) {
            throw new EdgeException(undecodable(request.decoderResult().cause()));
        }
        HttpHeaders headers = request.headers();
        if (headers.size() > limits.maxHeadFields()) {
            throw problem(Cause.HEAD_TOO_LARGE,
                    "the head has more than " + limits.maxHeadFields() + " fields");
        }
        if (request.uri().length() > limits.maxUriBytes().bytes()) {
            throw problem(Cause.URI_TOO_LONG, "the target is longer than " + limits.maxUriBytes());
        }
        HttpMethod method = request.method();
        if (method.equals(HttpMethod.CONNECT) || method.equals(HttpMethod.TRACE)) {
            throw problem(Cause.METHOD_NOT_ALLOWED, method.name() + " is not served");
        }
        requireChunked(request);
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
        return new EdgeRequestHead(fields, host, upgrade);
    }

    private static Problem undecodable(Throwable cause) {
        return switch (cause) {
            case TooLongHttpLineException e ->
                Problem.of(Cause.URI_TOO_LONG, Hop.EDGE, "the request line is too long");
            case TooLongHttpHeaderException e ->
                Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE, "the head is too large");
            case TooLongFrameException e ->
                Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE, "the head is too large");
            default -> Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the request is not valid HTTP/1.1");
        };
    }

    /** RFC 9112 §6.1: the coding is for this hop only, so that no other one can be passed on; and HTTP/1.0 has none. */
    private static void requireChunked(HttpRequest request) {
        List<String> codings = request.headers().getAll(TRANSFER_ENCODING);
        boolean chunked = codings.size() == 1 && codings.getFirst().equalsIgnoreCase("chunked")
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        if (!codings.isEmpty() && !chunked) {
            throw problem(Cause.BAD_REQUEST, "the only Transfer-Encoding served is chunked, in HTTP/1.1");
        }
    }

    /** RFC 9112 §3.2: exactly one Host, and a valid one; HTTP/1.0 without it can't be routed either. */
    private static String host(HttpRequest request) {
        List<String> hosts = request.headers().getAll(HOST);
        if (hosts.size() != 1 || !isAuthority(hosts.getFirst())) {
            throw problem(Cause.BAD_REQUEST, "one valid Host field is needed");
        }
        return hosts.getFirst();
    }

    /** RFC 3986 §3.2.2: a name or an address, and a port perhaps. Names are those that a runtime can have. */
    private static boolean isAuthority(String host) {
        int end = host.startsWith("[") ? addressEnd(host) : nameEnd(host);
        boolean port = end < host.length();
        return end > 0 && host.length() <= MAX_AUTHORITY && (!port || isPort(host, end));
    }

    private static int nameEnd(String host) {
        int end = 0;
        while (end < host.length()
                && (isAlphanumeric(host.charAt(end)) || "-._".indexOf(host.charAt(end)) >= 0)) {
            end++;
        }
        return end;
    }

    /** RFC 3986 §3.2.2: an IPv6 address in brackets; its digits need not be right, for no runtime has one. */
    private static int addressEnd(String host) {
        int end = host.indexOf(']');
        for (int i = 1; i < end; i++) {
            if (!isAlphanumeric(host.charAt(i)) && ":.".indexOf(host.charAt(i)) < 0) {
                return 0;
            }
        }
        return end <= 1 || host.lastIndexOf(':', end) < 0 ? 0 : end + 1;
    }

    private static boolean isPort(String host, int colon) {
        int digits = host.length() - colon - 1;
        boolean valid = host.charAt(colon) == ':' && digits >= 1 && digits <= 5;
        for (int i = colon + 1; i < host.length(); i++) {
            valid &= host.charAt(i) >= '0' && host.charAt(i) <= '9';
        }
        return valid;
    }

    private static boolean isAlphanumeric(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }

    /** RFC 9112 §3.2: origin-form, absolute-form whose authority is the Host's, or {@code *} for OPTIONS. */
    private static String path(HttpRequest request, String host) {
        String target = request.uri();
        if (target.startsWith("/") || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))) {
            return checked(target);
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
        return checked(rest.startsWith("/") ? rest : "/" + rest);
    }

    private static String checked(String path) {
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c <= ' ' || c >= 0x7f || c == '#') {
                throw problem(Cause.BAD_REQUEST, "the target has a character that must be percent-encoded");
            }
        }
        return path;
    }

    /** RFC 9110 §7.8, RFC 6455 §4.1; any other Upgrade is dropped with the hop-by-hop fields. */
    private static boolean asksForWebSocket(HttpRequest request) {
        HttpHeaders headers = request.headers();
        return request.method().equals(HttpMethod.GET)
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1)
                && headers.containsValue("connection", "upgrade", true)
                && headers.containsValue("upgrade", "websocket", true)
                && !EdgeRequestDecoder.hasBody(request);
    }

    private static EdgeException problem(Cause cause, String detail) {
        return new EdgeException(Problem.of(cause, Hop.EDGE, detail));
    }

    /** The fields of a request's trailer section that cross. */
    static Http2Headers trailers(HttpHeaders received) {
        Http2Headers trailers = new DefaultHttp2Headers(false, received.size());
        for (Map.Entry<String, String> field : received) {
            trailers.add(AsciiString.of(field.getKey()).toLowerCase(), field.getValue());
        }
        ForwardingRules.response(trailers, false);
        return trailers;
    }
}

package dev.culvert.relay.inbound.http2;

import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.exchange.EdgeRequestHead;
import dev.culvert.relay.exchange.RequestTarget;
import dev.culvert.relay.exchange.RequestTrailers;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Headers.PseudoHeaderName;
import io.netty.util.AsciiString;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Validates heads of HTTP/2 requests (RFC 9113 §8.3) and converts them to the relay's form. The codec has
 * checked the octets.
 */
final class Http2RequestHead {
    private static final AsciiString HOST = AsciiString.cached("host");
    private static final AsciiString COOKIE = AsciiString.cached("cookie");
    private static final AsciiString TE = AsciiString.cached("te");
    private static final AsciiString WEBSOCKET = AsciiString.cached("websocket");
    /** The connection-specific fields, which HTTP/2 forbids (RFC 9113 §8.2.2). */
    private static final List<String> CONNECTION_SPECIFIC = List.of("connection", "keep-alive",
            "proxy-connection", "transfer-encoding", "upgrade");
    /** Room for pseudo-fields and for fields added by forwarding. */
    private static final int EXTRA_FIELDS = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Http2RequestHead() {}

    /** Converts a decoded request. Throws EdgeException with the caller's fault. */
    static EdgeRequestHead of(Http2Headers received, CharSequence scheme, boolean ended,
            CallerLimits limits) {
        String method = received.method() == null ? "" : received.method().toString();
        String path = received.path() == null ? "" : received.path().toString();
        RequestTarget.requireWithin(limits, regularFields(received), path);
        boolean webSocket = isWebSocket(received, method, ended);
        if (!webSocket) {
            TargetForm.requireServed(method);
        }
        requireToken(method);
        requireHttp(received.scheme());
        requireNoConnectionFields(received);
        if (!RequestTrailers.areTrimmed(received)) {
            throw RequestTarget.problem(Cause.BAD_REQUEST, "a value ends with white space");
        }
        requireTarget(path, method);
        RequestTarget.requireLength(received);
        String host = authority(received);
        Http2Headers fields = new DefaultHttp2Headers(false, received.size() + EXTRA_FIELDS);
        fields.method(webSocket ? "GET" : method)
                .scheme(scheme)
                .authority(host)
                .path(TargetForm.checked(path));
        copy(received, fields);
        if (webSocket) {
            // RFC 8441 §5.1: fields that HTTP/1.1 needs; the caller has no use for the response to the key
            fields.set("upgrade", WEBSOCKET);
            fields.set("sec-websocket-key", newKey());
        }
        return new EdgeRequestHead(fields, host, webSocket);
    }

    private static int regularFields(Http2Headers received) {
        int fields = 0;
        for (Map.Entry<CharSequence, CharSequence> field : received) {
            fields += Http2Headers.PseudoHeaderName.hasPseudoHeaderFormat(field.getKey()) ? 0 : 1;
        }
        return fields;
    }

    /** Whether the request is a CONNECT with a protocol (RFC 8441 §4). */
    private static boolean isWebSocket(Http2Headers received, String method, boolean ended) {
        CharSequence protocol = received.get(PseudoHeaderName.PROTOCOL.value());
        if (protocol == null) {
            return false;
        }
        if (!method.equals("CONNECT") || !WEBSOCKET.contentEqualsIgnoreCase(protocol) || ended) {
            throw RequestTarget.problem(Cause.BAD_REQUEST,
                    "the only :protocol served is websocket, with CONNECT and a stream that stays open");
        }
        return true;
    }

    /** Requires a token as method (RFC 9110 §9.1). */
    private static void requireToken(String method) {
        boolean valid = !method.isEmpty();
        for (int i = 0; i < method.length(); i++) {
            char c = method.charAt(i);
            valid &= c > ' ' && c < 0x7f && "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0;
        }
        if (!valid) {
            throw RequestTarget.problem(Cause.BAD_REQUEST, "one valid :method is needed");
        }
    }

    private static void requireHttp(@Nullable CharSequence scheme) {
        if (scheme == null || !(AsciiString.contentEqualsIgnoreCase(scheme, "https")
                || AsciiString.contentEqualsIgnoreCase(scheme, "http"))) {
            throw RequestTarget.problem(Cause.BAD_REQUEST, "one :scheme is needed, http or https");
        }
    }

    private static void requireNoConnectionFields(Http2Headers received) {
        for (String name : CONNECTION_SPECIFIC) {
            if (received.contains(name)) {
                throw RequestTarget.problem(Cause.BAD_REQUEST, name + " has no meaning in HTTP/2");
            }
        }
        for (CharSequence value : received.getAll(TE)) {
            if (!AsciiString.contentEqualsIgnoreCase(value, "trailers")) {
                throw RequestTarget.problem(Cause.BAD_REQUEST, "in HTTP/2 te may only be trailers");
            }
        }
    }

    private static void requireTarget(String path, String method) {
        if (!path.startsWith("/") && !(path.equals("*") && method.equals("OPTIONS"))) {
            throw RequestTarget.problem(Cause.BAD_REQUEST, "one :path is needed, and it begins with /");
        }
    }

    /**
     * Returns the authority (RFC 9113 §8.3.1): {@code :authority}, or Host in its place. If both are present,
     * they must be equal.
     */
    private static String authority(Http2Headers received) {
        List<CharSequence> hosts = received.getAll(HOST);
        CharSequence pseudo = received.authority();
        CharSequence named = pseudo != null ? pseudo : hosts.isEmpty() ? "" : hosts.getFirst();
        for (CharSequence host : hosts) {
            if (!AsciiString.contentEqualsIgnoreCase(host, named)) {
                throw RequestTarget.problem(Cause.BAD_REQUEST, "Host differs from :authority");
            }
        }
        String host = named.toString();
        if (hosts.size() > 1 || !TargetForm.isAuthority(host)) {
            throw RequestTarget.problem(Cause.BAD_REQUEST, "one valid :authority is needed");
        }
        return host;
    }

    /** Copies the regular fields, and joins split cookie fields (RFC 9113 §8.2.3). */
    private static void copy(Http2Headers received, Http2Headers fields) {
        for (Map.Entry<CharSequence, CharSequence> field : received) {
            CharSequence name = field.getKey();
            boolean crosses = name.charAt(0) != ':' && !HOST.contentEquals(name)
                    && !COOKIE.contentEquals(name);
            if (crosses) {
                fields.add(name, field.getValue());
            }
        }
        List<CharSequence> cookies = received.getAll(COOKIE);
        if (!cookies.isEmpty()) {
            fields.set(COOKIE, String.join("; ", cookies));
        }
    }

    private static String newKey() {
        byte[] key = new byte[16];
        RANDOM.nextBytes(key);
        return Base64.getEncoder().encodeToString(key);
    }
}

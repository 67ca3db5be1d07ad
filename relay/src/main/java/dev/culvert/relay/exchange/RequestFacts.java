package dev.culvert.relay.exchange;

import dev.culvert.http.forwarding.ForwardingRules;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a request that the access log and problem pages need. They are copied because forwarding
 * changes the head and passes its ownership on.
 *
 * @param protocol the protocol, as {@code HTTP/1.1}; empty if the head was not parsed
 * @param target the target as received, with its query
 * @param accept the caller's {@code Accept} value; empty for gRPC, which has no problem pages
 * @param caller the caller's address, by the fields of trusted proxies
 */
public record RequestFacts(String protocol, CharSequence method, CharSequence host, CharSequence target,
        CharSequence userAgent, CharSequence accept, String caller) {
    private static final AsciiString FORWARDED_FOR = AsciiString.cached("x-forwarded-for");
    private static final String GRPC = "application/grpc";

    /** Returns the facts of a request whose head was not parsed. */
    public static RequestFacts unknown(String caller) {
        return new RequestFacts("", "", "", "", "", "", caller);
    }

    public static RequestFacts of(HttpRequest request, ForwardingRules.Peer peer, ForwardingRules rules) {
        var fields = request.headers();
        String caller = peer.trusted() ? rules.caller(peer, fields.getAll(FORWARDED_FOR)) : peer.address();
        if (request.decoderResult().isFailure()) {
            return unknown(caller);
        }
        String accept = fields.get(HttpHeaderNames.ACCEPT);
        return new RequestFacts(request.protocolVersion().text(), request.method().asciiName(),
                given(fields.get(HttpHeaderNames.HOST)), request.uri(),
                given(fields.get(HttpHeaderNames.USER_AGENT)),
                accept == null || isGrpc(fields.get(HttpHeaderNames.CONTENT_TYPE))
                        ? ""
                        : all(accept, fields.getAll(HttpHeaderNames.ACCEPT)),
                caller);
    }

    /**
     * Returns the facts of a request by its head.
     *
     * @param protocol as {@code HTTP/2}
     */
    public static RequestFacts of(String protocol, Http2Headers head, ForwardingRules.Peer peer,
            ForwardingRules rules) {
        String caller = peer.trusted() ? rules.caller(peer, head.getAll(FORWARDED_FOR)) : peer.address();
        CharSequence accept = head.get(HttpHeaderNames.ACCEPT);
        return new RequestFacts(protocol, given(head.method()), given(head.authority()), given(head.path()),
                given(head.get(HttpHeaderNames.USER_AGENT)),
                accept == null || isGrpc(head.get(HttpHeaderNames.CONTENT_TYPE))
                        ? ""
                        : all(accept, head.getAll(HttpHeaderNames.ACCEPT)),
                caller);
    }

    /**
     * Returns the facts without the query, bounded to the length of a log line, so that the queued entries
     * are bounded.
     */
    RequestFacts bounded() {
        return new RequestFacts(protocol, bounded(method, AccessEntry.MAX_TEXT),
                bounded(host, AccessEntry.MAX_TEXT),
                bounded(path(target), AccessEntry.MAX_PATH), bounded(userAgent, AccessEntry.MAX_TEXT), "",
                caller);
    }

    /** The number of characters of all texts. */
    int length() {
        return protocol.length() + method.length() + host.length() + target.length() + userAgent.length()
                + accept.length() + caller.length();
    }

    private static CharSequence path(CharSequence target) {
        for (int i = 0; i < target.length(); i++) {
            if (target.charAt(i) == '?' || target.charAt(i) == '#') {
                return target.subSequence(0, i);
            }
        }
        return target;
    }

    /** Keeps one character too many, which shows that the text was cut. */
    private static CharSequence bounded(CharSequence text, int most) {
        return text.length() > most ? text.subSequence(0, most + 1) : text;
    }

    private static CharSequence all(CharSequence first, List<? extends CharSequence> values) {
        return values.size() > 1 ? String.join(",", values) : first;
    }

    private static CharSequence given(@Nullable CharSequence value) {
        return value == null ? "" : value;
    }

    private static boolean isGrpc(@Nullable CharSequence type) {
        return type != null && AsciiString.of(type).regionMatches(true, 0, GRPC, 0, GRPC.length());
    }
}

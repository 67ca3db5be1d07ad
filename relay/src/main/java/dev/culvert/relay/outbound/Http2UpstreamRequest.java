package dev.culvert.relay.outbound;

import dev.culvert.http.fields.FieldText;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Prepares request heads for HTTP/2. */
final class Http2UpstreamRequest {
    private static final AsciiString TE = AsciiString.cached("te");
    private static final String TRAILERS = "trailers";
    /** Fields that HTTP/1.1 needs and HTTP/2 forbids (RFC 9113 §8.2.2). */
    private static final Set<AsciiString> FORBIDDEN = Set.of(AsciiString.cached("host"),
            AsciiString.cached("connection"), AsciiString.cached("transfer-encoding"),
            AsciiString.cached("keep-alive"), AsciiString.cached("proxy-connection"),
            AsciiString.cached("http2-settings"), AsciiString.cached("upgrade"));
    private static final Set<AsciiString> SECRET = Set.of(AsciiString.cached("authorization"),
            AsciiString.cached("cookie"));

    private Http2UpstreamRequest() {}

    /** Whether the compression of heads must never index a field (RFC 7541 §7.1.3). */
    static boolean isSecret(CharSequence name) {
        return SECRET.contains(AsciiString.of(name));
    }

    /**
     * Prepares a head for sending. May be called again for the same head.
     *
     * @return false if a part of the head is not allowed in a request
     */
    static boolean prepare(Http2Headers fields, UpstreamCall call, UpstreamAddress address) {
        CharSequence method = fields.method();
        if (method == null || !FieldText.isToken(method) || !FieldText.isTarget(call.target())) {
            return false;
        }
        CharSequence host = call.hostHeader() == null ? fields.authority() : call.hostHeader();
        // Some servers refuse the caller's scheme if it differs from that of this hop.
        fields.scheme(address.tls() ? "https" : "http")
                .authority(host == null ? address.host() : host)
                .path(call.target());
        FORBIDDEN.forEach(fields::remove);
        reduceTe(fields);
        return areValid(fields);
    }

    /** Returns the fields that are allowed in a trailer section; null: none. */
    static @Nullable Http2Headers trailers(@Nullable Http2Headers trailers) {
        if (trailers == null) {
            return null;
        }
        FORBIDDEN.forEach(trailers::remove);
        trailers.remove(TE);
        trailers.remove("content-length");
        return trailers.isEmpty() || !areRegular(trailers) || !areValid(trailers) ? null : trailers;
    }

    /**
     * Removes TE unless it is {@code trailers}: it belongs to one hop (RFC 9110 §10.1.4, RFC 9113 §8.2.2).
     */
    private static void reduceTe(Http2Headers fields) {
        if (fields.contains(TE) && !fields.contains(TE, TRAILERS)) {
            fields.remove(TE);
        }
    }

    private static boolean areRegular(Http2Headers fields) {
        for (CharSequence name : fields.names()) {
            if (name.isEmpty() || name.charAt(0) == ':') {
                return false;
            }
        }
        return true;
    }

    private static boolean areValid(Http2Headers fields) {
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            CharSequence name = field.getKey();
            boolean pseudo = !name.isEmpty() && name.charAt(0) == ':';
            if (!FieldText.isToken(pseudo ? name.subSequence(1, name.length()) : name)
                    || !FieldText.isText(field.getValue(), ' ')) {
                return false;
            }
        }
        return true;
    }
}

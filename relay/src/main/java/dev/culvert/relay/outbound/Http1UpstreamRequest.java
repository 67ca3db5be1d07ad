package dev.culvert.relay.outbound;

import dev.culvert.http.fields.FieldText;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.SpelledNames;
import dev.culvert.relay.upstream.UpstreamCall;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Encodes request heads as HTTP/1.1. Refuses text that could be read as more than one field or request. */
final class Http1UpstreamRequest {
    private static final AsciiString HOST = AsciiString.cached("host");
    private static final AsciiString CONNECTION = AsciiString.cached("connection");
    private static final AsciiString COOKIE = AsciiString.cached("cookie");
    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");
    private static final AsciiString UPGRADE = AsciiString.cached("upgrade");
    private static final AsciiString TE = AsciiString.cached("te");
    /** Fields that the gateway writes itself, or that belong to one hop. */
    private static final Set<AsciiString> OURS = Set.of(HOST, CONNECTION,
            AsciiString.cached("transfer-encoding"), AsciiString.cached("keep-alive"),
            AsciiString.cached("proxy-connection"), AsciiString.cached("http2-settings"), UPGRADE, TE,
            COOKIE);
    private static final Set<AsciiString> SAFE = Set.of(HttpMethod.GET.asciiName(),
            HttpMethod.HEAD.asciiName(),
            HttpMethod.OPTIONS.asciiName());
    private static final int USUAL_BYTES = 1024;
    private static final int COLON = ':' | ' ' << 8;
    private static final int CRLF = '\r' | '\n' << 8;

    private final ByteBuf out;
    private boolean valid = true;

    private Http1UpstreamRequest(ByteBuf out) {
        this.out = out;
    }

    /**
     * Encodes a head.
     *
     * @param framing the field that frames the body, {@code Transfer-Encoding: chunked} or
     *     {@code Content-Length: 0}, or empty
     * @return a buffer that the caller owns, or null if a part of the head is not allowed in a request
     */
    static @Nullable ByteBuf encode(ByteBufAllocator allocator, RelayRequest request, UpstreamCall call,
            String framing) {
        Http1UpstreamRequest head = new Http1UpstreamRequest(allocator.buffer(USUAL_BYTES));
        try {
            head.write(request, call, framing);
        } catch (Throwable e) { // the buffer can't grow: no direct memory
            head.out.release();
            throw e;
        }
        if (head.valid) {
            return head.out;
        }
        head.out.release();
        return null;
    }

    /** Whether the method addresses a proxy, not its upstream. */
    static boolean isForUs(CharSequence method) {
        return HttpMethod.CONNECT.asciiName().contentEquals(method)
                || HttpMethod.TRACE.asciiName().contentEquals(method);
    }

    /** Whether the method is HEAD, whose response has no body. */
    static boolean isHead(RelayRequest request) {
        return HttpMethod.HEAD.asciiName().contentEquals(request.fields().method());
    }

    /** Whether the request may be sent twice: its method is safe (RFC 9110 §9.2.1). */
    static boolean isSafe(RelayRequest request) {
        return SAFE.contains(AsciiString.of(request.fields().method()));
    }

    /** Appends the fields of a trailer section, except those that are not allowed there. */
    static void trailers(Http2Headers trailers, ByteBuf out) {
        for (Map.Entry<CharSequence, CharSequence> field : trailers) {
            AsciiString name = AsciiString.of(field.getKey());
            boolean forbidden = name.startsWith(":") || OURS.contains(name)
                    || name.contentEquals(CONTENT_LENGTH);
            if (!forbidden && FieldText.isToken(name) && FieldText.isText(field.getValue(), ' ')) {
                new Http1UpstreamRequest(out).field(trailers, name, field.getValue());
            }
        }
    }

    private void write(RelayRequest request, UpstreamCall call, String framing) {
        Http2Headers fields = request.fields();
        boolean upgrade = request.kind() == Kind.UPGRADE;
        requestLine(fields, call);
        CharSequence host = call.hostHeader() == null ? fields.authority() : call.hostHeader();
        own("Host", host == null ? call.address().host() : host);
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            AsciiString name = AsciiString.of(field.getKey());
            boolean skipped = name.isEmpty() || name.charAt(0) == ':' || OURS.contains(name)
                    || (upgrade && name.contentEquals(CONTENT_LENGTH));
            if (!skipped) {
                field(fields, name, field.getValue());
            }
        }
        cookies(fields);
        connection(fields, upgrade);
        ascii(framing);
        line();
    }

    private void requestLine(Http2Headers fields, UpstreamCall call) {
        CharSequence method = fields.method();
        String target = call.target();
        valid &= method != null && FieldText.isToken(method) && FieldText.isTarget(target);
        if (valid && method != null) {
            ascii(method);
            out.writeByte(' ');
            ascii(target);
            ascii(" HTTP/1.1\r\n");
        }
    }

    /** Joins cookie fields that HTTP/2 split (RFC 9113 §8.2.3). */
    private void cookies(Http2Headers fields) {
        if (fields.contains(COOKIE)) {
            List<CharSequence> cookies = fields.getAll(COOKIE);
            field(fields, COOKIE, cookies.size() == 1 ? cookies.getFirst() : String.join("; ", cookies));
        }
    }

    private void connection(Http2Headers fields, boolean upgrade) {
        CharSequence protocol = fields.get(UPGRADE);
        if (upgrade) {
            own("Connection", "Upgrade");
            own("Upgrade", protocol == null ? "websocket" : protocol);
        } else if (fields.contains(TE, "trailers")) {
            // RFC 9110 §10.1.4: TE belongs to one hop, so Connection must name it
            own("Connection", "TE");
            own("TE", "trailers");
        }
    }

    private void field(Http2Headers head, CharSequence name, CharSequence value) {
        if (!FieldText.isToken(name) || !FieldText.isText(value, ' ')) {
            valid = false;
            return;
        }
        SpelledNames.write(head, name, out);
        out.writeShortLE(COLON);
        ascii(value);
        line();
    }

    /** A field of this hop. */
    private void own(String name, CharSequence value) {
        if (!FieldText.isText(value, ' ')) {
            valid = false;
            return;
        }
        ascii(name);
        out.writeShortLE(COLON);
        ascii(value);
        line();
    }

    private void line() {
        out.writeShortLE(CRLF);
    }

    /** Writes each character as one byte, as it was received. */
    private void ascii(CharSequence text) {
        out.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    }
}

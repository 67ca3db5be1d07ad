package dev.culvert.relay.inbound.http1;

import dev.culvert.relay.SpelledNames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Converts response heads to HTTP/1.1. */
final class Http1ResponseHead {
    /** Does not validate: fields were checked when they were decoded from the tunnel. */
    private static final DefaultHttpHeadersFactory FACTORY = DefaultHttpHeadersFactory.headersFactory()
            .withValidation(false);

    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");
    private static final int USUAL_BYTES = 512;
    private static final int COLON = ':' << 8 | ' ';
    private static final int CRLF = '\r' << 8 | '\n';

    private Http1ResponseHead() {}

    static HttpHeaders none() {
        return FACTORY.newHeaders();
    }

    /** Returns the regular fields of a head or of trailers. */
    static HttpHeaders headers(Http2Headers head) {
        HttpHeaders headers = FACTORY.newHeaders();
        for (Map.Entry<CharSequence, CharSequence> field : head) {
            CharSequence name = field.getKey();
            if (name.length() > 0 && name.charAt(0) != ':') {
                headers.add(SpelledNames.of(head, name), field.getValue());
            }
        }
        return headers;
    }

    /**
     * Whether the response has the usual shape: a final status whose body has a declared length, or none. To
     * be called for requests of HTTP/1.1 other than HEAD whose connection is kept.
     */
    static boolean isPlain(Http2Headers head, HttpResponseStatus code, boolean ended) {
        int status = code.code();
        boolean special = status < 200 || status == 204 || status == 205 || status == 304;
        return !special && (ended || head.contains(CONTENT_LENGTH));
    }

    /**
     * Encodes the head of a plain response. Returns a buffer that the caller owns.
     *
     * @throws OutOfMemoryError the direct memory is used up
     */
    static ByteBuf encode(ByteBufAllocator allocator, Http2Headers head, HttpResponseStatus code) {
        ByteBuf out = allocator.buffer(USUAL_BYTES);
        try {
            ascii("HTTP/1.1 ", out);
            ascii(code.codeAsText(), out);
            out.writeByte(' ');
            ascii(code.reasonPhrase(), out);
            out.writeShort(CRLF);
            boolean sized = false;
            for (Map.Entry<CharSequence, CharSequence> field : head) {
                CharSequence name = field.getKey();
                if (name.length() > 0 && name.charAt(0) != ':') {
                    sized |= CONTENT_LENGTH.contentEquals(name);
                    SpelledNames.write(head, name, out);
                    out.writeShort(COLON);
                    ascii(field.getValue(), out);
                    out.writeShort(CRLF);
                }
            }
            ascii(sized ? "\r\n" : "Content-Length: 0\r\n\r\n", out);
            return out;
        } catch (OutOfMemoryError e) {
            out.release();
            throw e;
        }
    }

    /** Writes each character as one byte, as it was received. */
    private static void ascii(CharSequence text, ByteBuf out) {
        out.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    }

    /**
     * Adds the fields that frame the body (RFC 9112 §6) and control the connection.
     *
     * @return whether the connection can serve another request afterwards
     */
    static boolean frame(HttpHeaders headers, int status, HttpMethod method, HttpVersion version,
            boolean ended,
            boolean keepAlive) {
        boolean bodiless = method.equals(HttpMethod.HEAD) || status == 204 || status == 304;
        boolean reusable = keepAlive;
        if (!bodiless && !headers.contains("content-length")) {
            if (ended) {
                headers.set("Content-Length", "0");
            } else if (version.equals(HttpVersion.HTTP_1_1)) {
                headers.set("Transfer-Encoding", "chunked");
            } else {
                reusable = false; // the end of the connection is the end of the body
            }
        }
        if (!reusable) {
            headers.set("Connection", "close");
        } else if (version.equals(HttpVersion.HTTP_1_0)) {
            headers.set("Connection", "keep-alive");
        }
        return reusable;
    }
}

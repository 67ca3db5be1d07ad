package dev.culvert.http.fields;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The spelling in which HTTP/1.1 writes field names that came in lower case: {@code Content-Type}. The first
 * letter and each behind a hyphen is in upper case, except in names that are known otherwise.
 */
public final class CanonicalName {
    /** Names that the rule would spell in another way than their specification or their usual sender. */
    private static final List<String> EXCEPTIONS = List.of("A-IM", "Content-MD5", "DNT", "DPR", "ECT",
            "ETag", "Expect-CT", "HTTP2-Settings", "IM", "MIME-Version", "NEL", "P3P", "RateLimit",
            "RateLimit-Policy", "RTT", "Sec-CH-UA",
            "Sec-CH-UA-Arch", "Sec-CH-UA-Bitness", "Sec-CH-UA-Full-Version-List", "Sec-CH-UA-Mobile",
            "Sec-CH-UA-Model", "Sec-CH-UA-Platform", "Sec-CH-UA-Platform-Version", "Sec-GPC",
            "Sec-WebSocket-Accept", "Sec-WebSocket-Extensions", "Sec-WebSocket-Key",
            "Sec-WebSocket-Protocol", "Sec-WebSocket-Version", "SOAPAction", "SourceMap", "TE",
            "WWW-Authenticate", "X-DNS-Prefetch-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining",
            "X-RateLimit-Reset", "X-UA-Compatible", "X-XSS-Protection");
    /** Names of which most heads consist. They are written as a whole. */
    private static final List<String> USUAL = List.of("Accept", "Accept-Encoding", "Accept-Language",
            "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
            "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
            "Age", "Allow", "Authorization", "Cache-Control", "Connection", "Content-Disposition",
            "Content-Encoding", "Content-Language", "Content-Length", "Content-Range",
            "Content-Security-Policy", "Content-Type", "Cookie", "Date", "Expires", "Forwarded", "Host",
            "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "Keep-Alive", "Last-Modified",
            "Link", "Location", "Origin", "Pragma", "Priority", "Range", "Referer", "Referrer-Policy",
            "Retry-After", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Server",
            "Server-Timing", "Set-Cookie", "Strict-Transport-Security", "Traceparent", "Tracestate",
            "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "Vary", "Via",
            "X-Content-Type-Options", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
            "X-Forwarded-Proto", "X-Frame-Options", "X-Request-Id");
    private static final Map<AsciiString, AsciiString> KNOWN = Stream
            .concat(EXCEPTIONS.stream(), USUAL.stream())
            .map(AsciiString::cached)
            .collect(Collectors.toUnmodifiableMap(AsciiString::toLowerCase, Function.identity()));
    private static final int TO_UPPER = 'a' - 'A';

    private CanonicalName() {}

    /** Returns the canonical spelling of a name in lower case. */
    public static AsciiString of(AsciiString name) {
        AsciiString known = KNOWN.get(name);
        if (known != null) {
            return known;
        }
        byte[] spelled = name.toByteArray();
        for (int i = 0; i < spelled.length; i++) {
            spelled[i] = spelled(name, i);
        }
        return new AsciiString(spelled, false);
    }

    /** Appends the canonical spelling of a name in lower case. Leaves no garbage. */
    public static void write(AsciiString name, ByteBuf out) {
        AsciiString known = KNOWN.get(name);
        if (known != null) {
            out.writeBytes(known.array(), known.arrayOffset(), known.length());
            return;
        }
        for (int i = 0; i < name.length(); i++) {
            out.writeByte(spelled(name, i));
        }
    }

    /**
     * Returns a name as it was written; null if that is its canonical spelling.
     *
     * @param name in lower case
     */
    public static @Nullable AsciiString unless(AsciiString written, AsciiString name) {
        AsciiString known = KNOWN.get(name);
        if (known != null) {
            return known.equals(written) ? null : written;
        }
        for (int i = 0; i < name.length(); i++) {
            if (written.byteAt(i) != spelled(name, i)) {
                return written;
            }
        }
        return null;
    }

    private static byte spelled(AsciiString name, int at) {
        byte letter = name.byteAt(at);
        boolean first = at == 0 || name.byteAt(at - 1) == '-';
        return first && letter >= 'a' && letter <= 'z' ? (byte) (letter - TO_UPPER) : letter;
    }
}

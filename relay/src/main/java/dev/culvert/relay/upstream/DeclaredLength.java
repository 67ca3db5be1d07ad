package dev.culvert.relay.upstream;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;

/** The body length that a head declares, in bytes. */
public final class DeclaredLength {
    public static final long UNKNOWN = -1;
    public static final long INVALID = -2;
    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");

    private DeclaredLength() {}

    /**
     * Reads the {@code content-length} fields. RFC 9110 §8.6: exactly one number; recipients could read
     * anything else in two ways.
     */
    public static long of(Http2Headers fields) {
        if (!fields.contains(CONTENT_LENGTH)) {
            return UNKNOWN;
        }
        List<CharSequence> values = fields.getAll(CONTENT_LENGTH);
        String value = values.getFirst().toString();
        boolean number = values.size() == 1 && !value.isEmpty() && value.length() <= 18
                && value.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Long.parseLong(value) : INVALID;
    }
}

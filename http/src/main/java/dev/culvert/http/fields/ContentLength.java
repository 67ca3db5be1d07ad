package dev.culvert.http.fields;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;

/** The {@code Content-Length} field (RFC 9110 §8.6), and whether a head announces content at all. */
public final class ContentLength {
    public static final long UNKNOWN = -1;
    public static final long INVALID = -2;
    private static final AsciiString NAME = AsciiString.cached("content-length");
    /** Every number of 18 digits fits into a long. */
    private static final int MAX_LENGTH_DIGITS = 18;

    private ContentLength() {}

    /** Parses a field value. Returns the number of bytes, or -1 if the value is not valid. */
    public static long parse(CharSequence value) {
        boolean valid = !value.isEmpty() && value.length() <= MAX_LENGTH_DIGITS;
        long length = 0;
        for (int i = 0; valid && i < value.length(); i++) {
            char c = value.charAt(i);
            valid = c >= '0' && c <= '9';
            length = 10 * length + (c - '0');
        }
        return valid ? length : -1;
    }

    /**
     * Reads the fields of a head. RFC 9110 §8.6: at most one number; recipients could read anything else in
     * two ways, and the same number twice is treated like two numbers.
     *
     * @return the number of bytes, {@link #UNKNOWN} or {@link #INVALID}
     */
    public static long of(Http2Headers fields) {
        if (!fields.contains(NAME)) {
            return UNKNOWN;
        }
        List<CharSequence> values = fields.getAll(NAME);
        long length = values.size() == 1 ? parse(values.getFirst()) : -1;
        return length < 0 ? INVALID : length;
    }

    /**
     * Whether a final response has no content, whatever its head declares (RFC 9110 §6.4.1, §15.3.6).
     *
     * @param toHead whether it answers a HEAD
     */
    public static boolean isBodiless(int status, boolean toHead) {
        return toHead || status == 204 || status == 205 || status == 304;
    }

    /**
     * Whether a response may declare this length. One that can't have content may only declare 0; one to
     * HEAD, and a 304, declare the length of what they leave out (RFC 9110 §8.6).
     *
     * @param length as {@link #of} returns it
     */
    public static boolean fits(long length, int status, boolean toHead) {
        boolean never = !toHead && (status < 200 || status == 204 || status == 205);
        return length != INVALID && (length <= 0 || !never);
    }

    /** Whether an HTTP/1.1 request announces content (RFC 9112 §6). */
    public static boolean announcesContent(HttpRequest request) {
        var headers = request.headers();
        String length = headers.get("content-length");
        return headers.contains("transfer-encoding") || (length != null && !length.trim().equals("0"));
    }
}

package dev.culvert.http.fields;

import io.netty.handler.codec.http.HttpRequest;

/** The {@code Content-Length} field (RFC 9110 §8.6), and whether a head announces content at all. */
public final class ContentLength {
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

    /** Whether an HTTP/1.1 request announces content (RFC 9112 §6). */
    public static boolean announcesContent(HttpRequest request) {
        var headers = request.headers();
        String length = headers.get("content-length");
        return headers.contains("transfer-encoding") || (length != null && !length.trim().equals("0"));
    }
}

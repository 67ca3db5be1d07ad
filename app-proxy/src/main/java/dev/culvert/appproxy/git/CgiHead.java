package dev.culvert.appproxy.git;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Set;

/**
 * The head of a CGI response (RFC 3875 §6.2).
 *
 * @param status from the {@code Status} field, else 200
 * @param headers the fields for the caller, without the framing fields, which the edge sets
 */
record CgiHead(HttpResponseStatus status, HttpHeaders headers) {
    /** The maximum size of a head. Git's own heads are below 200 bytes. */
    static final int MAX_BYTES = 8 << 10;

    private static final Set<String> NOT_PASSED = Set.of("status", "content-length", "transfer-encoding",
            "connection",
            "keep-alive", "trailer", "upgrade");

    /**
     * Reads up to and including the empty line. Blocks. Throws IOException when the input is not a CGI head.
     */
    static CgiHead read(InputStream in) throws IOException {
        HttpResponseStatus status = HttpResponseStatus.OK;
        HttpHeaders headers = new DefaultHttpHeaders();
        int left = MAX_BYTES;
        for (String line = line(in, left); !line.isEmpty(); line = line(in, left)) {
            left -= line.length() + 1;
            int colon = line.indexOf(':');
            if (colon < 1) {
                throw new IOException("not a CGI field: " + line);
            }
            String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
            String value = line.substring(colon + 1).trim();
            if (name.equals("status")) {
                status = status(value);
            } else if (!NOT_PASSED.contains(name)) {
                add(headers, name, value);
            }
        }
        return new CgiHead(status, headers);
    }

    private static String line(InputStream in, int max) throws IOException {
        var line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("ended within the CGI head");
            }
            if (line.length() >= max) {
                throw new IOException("the CGI head is larger than " + MAX_BYTES + " bytes");
            }
            line.append((char) c);
        }
        int end = line.length() > 0 && line.charAt(line.length() - 1) == '\r'
                ? line.length() - 1
                : line.length();
        return line.substring(0, end);
    }

    private static HttpResponseStatus status(String value) throws IOException {
        String code = value.length() > 3 ? value.substring(0, 3) : value;
        if (!code.matches("[2-5][0-9][0-9]")) {
            throw new IOException("not a CGI status: " + value);
        }
        return HttpResponseStatus.valueOf(Integer.parseInt(code));
    }

    private static void add(HttpHeaders headers, String name, String value) throws IOException {
        try {
            headers.add(name, value);
        } catch (IllegalArgumentException e) {
            throw new IOException("not a valid field: " + name, e);
        }
    }
}

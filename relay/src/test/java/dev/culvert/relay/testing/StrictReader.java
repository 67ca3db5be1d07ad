package dev.culvert.relay.testing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of HTTP/1.1 to the letter of RFC 9112, and knows nothing of Culvert's own parsers or Netty's. What its
 * grammar does not have is an error, however harmless it looks. Blocking.
 */
public final class StrictReader {
    private static final Pattern REQUEST_LINE = Pattern
            .compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+) (/[!-~]*|\\*) HTTP/1\\.1");
    private static final Pattern FIELD = Pattern
            .compile(
                    "([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?((?:[!-~\\x80-\\xff](?:[ \\t!-~\\x80-\\xff]*[!-~\\x80-\\xff])?)?)");
    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");
    private static final Pattern CHUNK = Pattern.compile("[0-9a-fA-F]{1,8}");

    private final InputStream in;

    public StrictReader(InputStream in) {
        this.in = in;
    }

    /** What is no request. */
    public static final class Violation extends IOException {
        private static final long serialVersionUID = 1;

        Violation(String what) {
            super(what);
        }
    }

    /** The next request, or null at the end. Throws EOFException in the middle of one. */
    public @Nullable SeenRequest next() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        Matcher line = match(REQUEST_LINE, (char) first + line());
        SeenRequest request = SeenRequest.of(line.group(1) + " " + line.group(2));
        List<String> lengths = new ArrayList<>();
        List<String> codings = new ArrayList<>();
        int hosts = 0;
        for (String field = line(); !field.isEmpty(); field = line()) {
            Matcher parts = match(FIELD, field);
            String name = parts.group(1).toLowerCase(Locale.ROOT);
            switch (name) {
                case "content-length" -> lengths.add(parts.group(2));
                case "transfer-encoding" -> codings.add(parts.group(2));
                case "host" -> hosts++;
                default -> {
                }
            }
            if (!(name.equals("connection") && parts.group(2).equalsIgnoreCase("te"))) {
                request.field(name + ": " + parts.group(2));
            }
        }
        require(hosts == 1, hosts + " Host fields");
        require(lengths.size() + codings.size() <= 1, "lengths " + lengths + ", codings " + codings);
        if (!lengths.isEmpty()) {
            request.body(bytes(Integer.parseInt(match(LENGTH, lengths.getFirst()).group())));
        } else if (!codings.isEmpty()) {
            require(codings.getFirst().equals("chunked"), "coding " + codings);
            chunks(request);
        }
        return request;
    }

    private void chunks(SeenRequest request) throws IOException {
        var body = new StringBuilder();
        int size;
        do {
            size = Integer.parseInt(match(CHUNK, line()).group(), 16);
            if (size > 0) {
                body.append(bytes(size));
                require(line().isEmpty(), "bytes behind a chunk");
            }
        } while (size > 0);
        for (String field = line(); !field.isEmpty(); field = line()) {
            Matcher parts = match(FIELD, field);
            request.trailer(parts.group(1).toLowerCase(Locale.ROOT) + ": " + parts.group(2));
        }
        request.body(body.toString());
    }

    private String bytes(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** A line to its CRLF; no CR or LF stands elsewhere. */
    private String line() throws IOException {
        var line = new StringBuilder();
        int c = in.read();
        while (c != '\r') {
            if (c < 0) {
                throw new EOFException();
            }
            require(c != '\n', "a bare LF behind " + line);
            line.append((char) c);
            c = in.read();
        }
        int next = in.read();
        if (next < 0) {
            throw new EOFException();
        }
        require(next == '\n', "a bare CR behind " + line);
        return line.toString();
    }

    private static Matcher match(Pattern pattern, String text) throws Violation {
        Matcher matcher = pattern.matcher(text);
        require(matcher.matches(), "no " + pattern + ": " + text);
        return matcher;
    }

    private static void require(boolean valid, String what) throws Violation {
        if (!valid) {
            throw new Violation(what);
        }
    }
}

package dev.culvert.launcher.admin;

import dev.culvert.http.net.AddressOrder;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 client of short commands, with one connection for each request. The JDK's own client loads
 * 1,300 more classes and the trusted authorities even for {@code http:}, which takes longer than a whole
 * command (docs/performance.md). Follows no redirects, repeats nothing, and uses no HTTP proxy. Blocking;
 * thread-safe.
 */
public final class SocketHttp {
    private static final int MAX_HEAD = 64 << 10;
    /** The longest line of a stream: a request's record has bounded texts. */
    private static final int MAX_LINE = 256 << 10;
    /** The largest body that is kept: a list of 200,000 runtimes. */
    private static final int MAX_BODY = 64 << 20;
    /** The time to connect to an address that is not the last one of its name. */
    private static final Duration ONE_OF_SEVERAL = Duration.ofSeconds(1);
    /** The maximum number of addresses tried of one name. */
    private static final int MAX_ADDRESSES = 4;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;

    private final Duration timeout;
    private final int maxBody;
    private final @Nullable SSLSocketFactory tls;

    /**
     * @param timeout of a whole request, from the connection with its TLS handshake to the last byte of the
     *     response
     */
    public SocketHttp(Duration timeout) {
        this(timeout, MAX_BODY);
    }

    SocketHttp(Duration timeout, int maxBody) {
        this(timeout, maxBody, null);
    }

    /** @param tls makes the sockets of {@code https}; null: those that trust the JDK's authorities */
    public SocketHttp(Duration timeout, @Nullable SSLSocketFactory tls) {
        this(timeout, MAX_BODY, tls);
    }

    private SocketHttp(Duration timeout, int maxBody, @Nullable SSLSocketFactory tls) {
        this.timeout = timeout;
        this.maxBody = maxBody;
        this.tls = tls;
    }

    /** A response, with its body as UTF-8. */
    public record Response(int status, String body) {}

    /**
     * Sends a request and returns the response of any status. With {@code https} the authority and
     * the host's name are checked.
     *
     * @param target an absolute URI whose scheme is {@code http} or {@code https}; else an
     *     IllegalArgumentException is thrown
     * @param fields header fields, beside those of the connection and the body
     * @param body null for none
     * @throws IOException if there is no complete response in time
     */
    public Response send(String method, URI target, Map<String, String> fields, byte @Nullable [] body)
            throws IOException {
        if (!HttpAddress.isValid(target)) {
            throw new IllegalArgumentException(target + " is no address of an HTTP service");
        }
        byte[] request = request(method, target, fields, body);
        try (var timer = SocketTimer.start(timeout)) {
            try (Socket plain = connected(target, timer)) {
                return exchange(plain, target, request, ResponseReader::read);
            } catch (IOException e) {
                throw timer.passed() ? late(e) : e;
            }
        }
    }

    /**
     * Sends a GET, and passes the lines of a successful response on as they arrive, until it ends. The
     * time-out is that of the response's head.
     *
     * @param silence the longest time without a byte
     * @param lines receives each line; false: it wants no more
     * @return the response without the lines; with its body if it is no success
     * @throws IOException if there is no head in time, or the response is cut off
     */
    public Response follow(URI target, Map<String, String> fields, Duration silence, Predicate<String> lines)
            throws IOException {
        if (!HttpAddress.isValid(target)) {
            throw new IllegalArgumentException(target + " is no address of an HTTP service");
        }
        byte[] request = request("GET", target, fields, null);
        try (var timer = SocketTimer.start(timeout)) {
            try (Socket plain = connected(target, timer)) {
                plain.setSoTimeout((int) silence.toMillis());
                return exchange(plain, target, request, reader -> reader.follow(lines, timer));
            } catch (SocketTimeoutException e) {
                throw timed(e, "nothing came for " + silence.toSeconds() + " s");
            } catch (IOException e) {
                throw timer.passed() ? late(e) : e;
            }
        }
    }

    private static SocketTimeoutException timed(IOException cause, String words) {
        var told = new SocketTimeoutException(words);
        told.initCause(cause);
        return told;
    }

    /** Reads a response in its own way. */
    @FunctionalInterface
    private interface Reading {
        Response from(ResponseReader reader) throws IOException;
    }

    private Response exchange(Socket plain, URI target, byte[] request, Reading reading) throws IOException {
        try (Socket socket = HttpAddress.isSecure(target)
                ? secured(plain, target.getHost(), port(target))
                : plain) {
            OutputStream out = socket.getOutputStream();
            out.write(request);
            out.flush();
            return reading.from(new ResponseReader(socket.getInputStream()));
        }
    }

    private static SocketTimeoutException late(IOException cause) {
        var late = new SocketTimeoutException();
        late.initCause(cause);
        return late;
    }

    private static int port(URI target) {
        return target.getPort() >= 0 ? target.getPort() : HttpAddress.isSecure(target) ? 443 : 80;
    }

    /**
     * Connects to the first address of the host that accepts. Each but the last has {@link #ONE_OF_SEVERAL}.
     */
    private static Socket connected(URI target, SocketTimer timer) throws IOException {
        String host = target.getHost();
        List<InetAddress> all = AddressOrder.all(host);
        for (InetAddress each : all.subList(0, Math.min(all.size(), MAX_ADDRESSES) - 1)) {
            try {
                return connected(each, port(target), ONE_OF_SEVERAL, timer);
            } catch (ConnectException | SocketTimeoutException | NoRouteToHostException e) {
                if (timer.passed()) {
                    throw e;
                }
            }
        }
        return connected(all.get(Math.min(all.size(), MAX_ADDRESSES) - 1), port(target), Duration.ZERO,
                timer);
    }

    private static Socket connected(InetAddress address, int port, Duration patience, SocketTimer timer)
            throws IOException {
        var socket = new Socket();
        try {
            timer.guard(socket);
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(address, port), (int) patience.toMillis());
            return socket;
        } catch (ConnectException e) {
            socket.close();
            throw "Connection refused".equals(e.getMessage())
                    ? new ConnectException("the connection was refused")
                    : e;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private Socket secured(Socket plain, String host, int port) throws IOException {
        String name = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        SSLSocketFactory factory = tls == null ? (SSLSocketFactory) SSLSocketFactory.getDefault() : tls;
        var socket = (SSLSocket) factory.createSocket(plain, name, port, true);
        var parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        try {
            socket.startHandshake();
        } catch (SSLHandshakeException e) {
            throw inWords(e, name);
        }
        return socket;
    }

    /** The JDK's own texts name neither what was expected nor what to do. */
    private static SSLHandshakeException inWords(SSLHandshakeException refusal, String name) {
        String text = String.valueOf(refusal.getMessage());
        String words = text.contains("No subject alternative") || text.contains("No name matching")
                ? "its certificate is not for " + name + " (expected: an address with a name that it is for)"
                : text.contains("certification path") || text.contains("PKIX path building")
                        ? "no authority that is trusted here has signed its certificate (expected: --admin-ca with"
                                + " the file of the one that has)"
                        : text.contains("validity check failed") || text.contains("NotAfter")
                                || text.contains("NotBefore")
                                        ? "its certificate has ended or has not begun, or this machine's clock is wrong"
                                        : text;
        var told = new SSLHandshakeException(words);
        told.initCause(refusal);
        return told;
    }

    private static byte[] request(String method, URI target, Map<String, String> fields,
            byte @Nullable [] body) {
        String path = target.getRawPath().isEmpty() ? "/" : target.getRawPath();
        var head = new StringBuilder(method).append(' ').append(path);
        if (target.getRawQuery() != null) {
            head.append('?').append(target.getRawQuery());
        }
        head.append(" HTTP/1.1\r\nHost: ").append(target.getHost());
        if (target.getPort() >= 0) {
            head.append(':').append(target.getPort());
        }
        head.append("\r\nConnection: close\r\n");
        fields.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        byte[] content = body == null ? new byte[0] : body;
        if (content.length > 0 || !method.equals("GET")) {
            head.append("Content-Length: ").append(content.length).append("\r\n");
        }
        var request = new ByteArrayOutputStream(head.length() + 2 + content.length);
        request.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        request.writeBytes(content);
        return request.toByteArray();
    }

    /** Reads one response. */
    private final class ResponseReader {
        private final InputStream in;
        private final byte[] buffer = new byte[8 << 10];
        private int position;
        private int end;

        ResponseReader(InputStream in) {
            this.in = in;
        }

        Response read() throws IOException {
            return read(null, null);
        }

        Response follow(Predicate<String> lines, SocketTimer timer) throws IOException {
            return read(lines, timer);
        }

        private Response read(@Nullable Predicate<String> lines, @Nullable SocketTimer timer)
                throws IOException {
            int budget = MAX_HEAD;
            while (true) {
                String line = line(budget);
                budget -= line.length();
                int status = status(line);
                long length = -1;
                boolean chunked = false;
                for (line = line(budget); !line.isEmpty(); line = line(budget)) {
                    budget -= line.length() + 2;
                    String field = line.toLowerCase(Locale.ROOT);
                    if (field.startsWith("content-length:")) {
                        length = number(field.substring("content-length:".length()).strip(), 10);
                    } else if (field.startsWith("transfer-encoding:")) {
                        chunked = field.endsWith("chunked");
                    }
                }
                if (timer != null && status / 100 == 2) {
                    timer.close();
                }
                if (lines != null && status == 200) {
                    pass(lines, length, chunked);
                    return new Response(status, "");
                }
                if (status >= 200) {
                    return new Response(status, body(status, length, chunked));
                }
            }
        }

        private String body(int status, long length, boolean chunked) throws IOException {
            var body = new ByteArrayOutputStream();
            if (status == NO_CONTENT || status == NOT_MODIFIED) {
                return "";
            } else if (chunked) {
                for (long size = chunk(); size > 0; size = chunk()) {
                    copy(body, size);
                    line(MAX_HEAD);
                }
            } else if (length >= 0) {
                copy(body, length);
            } else {
                while (position < end || fill()) {
                    copy(body, end - position);
                }
            }
            return body.toString(StandardCharsets.UTF_8);
        }

        /** Passes the lines of a body on, until it ends or they are not wanted. */
        private void pass(Predicate<String> lines, long length, boolean chunked) throws IOException {
            var line = new ByteArrayOutputStream();
            long left = chunked ? chunk() : length >= 0 ? length : Long.MAX_VALUE;
            while (left > 0) {
                if (position == end && !fill()) {
                    if (left == Long.MAX_VALUE) {
                        return;
                    }
                    throw ended();
                }
                byte octet = buffer[position++];
                left--;
                if (octet != '\n') {
                    line.write(octet);
                    if (line.size() > MAX_LINE) {
                        throw new IOException(
                                "a line of its answer is larger than " + (MAX_LINE >> 10) + " KiB");
                    }
                } else {
                    String text = line.toString(StandardCharsets.UTF_8);
                    line.reset();
                    if (!lines.test(text.endsWith("\r") ? text.substring(0, text.length() - 1) : text)) {
                        return;
                    }
                }
                if (left == 0 && chunked) {
                    line(MAX_HEAD);
                    left = chunk();
                }
            }
        }

        private long chunk() throws IOException {
            String size = line(MAX_HEAD);
            int extension = size.indexOf(';');
            return number(extension < 0 ? size.strip() : size.substring(0, extension).strip(), 16);
        }

        private void copy(ByteArrayOutputStream body, long size) throws IOException {
            if (size > maxBody - body.size()) {
                throw new IOException("its answer is larger than " + (maxBody >> 20) + " MiB");
            }
            for (long left = size; left > 0;) {
                if (position == end && !fill()) {
                    throw ended();
                }
                int some = (int) Math.min(left, end - position);
                body.write(buffer, position, some);
                position += some;
                left -= some;
            }
        }

        /** Reads a line of limited length and returns it without its end. */
        private String line(int max) throws IOException {
            var line = new StringBuilder();
            while (true) {
                if (position == end && !fill()) {
                    throw ended();
                }
                char c = (char) (buffer[position++] & 0xFF);
                if (c == '\n') {
                    int length = line.length();
                    return length > 0 && line.charAt(length - 1) == '\r'
                            ? line.substring(0, length - 1)
                            : line.toString();
                }
                line.append(c);
                if (line.length() > max) {
                    throw new IOException(
                            "the head of its answer is larger than " + (MAX_HEAD >> 10) + " KiB");
                }
            }
        }

        /** Reads more bytes. False at the end of the connection. */
        private boolean fill() throws IOException {
            position = 0;
            end = Math.max(0, in.read(buffer));
            return end > 0;
        }

        private static int status(String line) throws IOException {
            int space = line.indexOf(' ');
            if (!line.startsWith("HTTP/1.") || space < 0 || line.length() < space + 4) {
                throw new IOException("its answer is not HTTP/1.1");
            }
            return (int) number(line.substring(space + 1, space + 4), 10);
        }

        private static long number(String digits, int radix) throws IOException {
            try {
                if (!digits.isEmpty() && Character.digit(digits.charAt(0), radix) < 0) { // a sign
                    throw new NumberFormatException();
                }
                return Long.parseLong(digits, radix);
            } catch (NumberFormatException e) {
                throw new IOException("its answer is not HTTP/1.1", e);
            }
        }

        private static EOFException ended() {
            return new EOFException("the connection ended before the answer did");
        }
    }
}

package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;

/** A caller of the edge that writes the bytes of HTTP/1.1 itself, and reads nothing unless asked. Blocks. */
final class RawHttp1 implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("(?i)content-length: (\\d+)");

    private final SSLSocket socket;
    private final OutputStream out;

    private RawHttp1(SSLSocket socket) throws IOException {
        this.socket = socket;
        out = socket.getOutputStream();
    }

    static RawHttp1 connect(Target target, String source, String host) throws IOException {
        return connect(target.edge(), source, host);
    }

    static RawHttp1 connect(int port, String source, String host) throws IOException {
        return new RawHttp1(Tls.connect(source, port, host, "http/1.1"));
    }

    /** Writes lines, and nothing behind them. */
    RawHttp1 lines(String... lines) throws IOException {
        return write((String.join("\r\n", lines) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    RawHttp1 write(byte[] bytes) throws IOException {
        out.write(bytes);
        return this;
    }

    InputStream in() throws IOException {
        return socket.getInputStream();
    }

    /** The head of the next answer. */
    String head() throws IOException {
        return head(in());
    }

    /** The length that a head announces; 0: it announces none. */
    static int length(String head) {
        Matcher length = LENGTH.matcher(head);
        return length.find() ? Integer.parseInt(length.group(1)) : 0;
    }

    /** Reads a head, with its empty line. */
    static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int octet = in.read();
            if (octet < 0) {
                throw new IOException("closed within a head: " + head);
            }
            head.append((char) octet);
        }
        return head.toString();
    }

    @Override
    public void close() throws IOException {
        Tls.hangUp(socket);
    }
}

package dev.culvert.e2e;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * An upstream that knows fields by one spelling alone, as firmware does. Answers a request with its head; 400
 * without {@code Host}. Its own fields have spellings of its own, those of a 103 and of trailers, too.
 */
final class CaseSensitiveUpstream implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    CaseSensitiveUpstream() throws IOException {
        Thread.ofVirtual().start(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed: the test is over
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            var in = new BufferedInputStream(socket.getInputStream());
            for (String head = head(in); !head.isEmpty(); head = head(in)) {
                socket.getOutputStream().write(answer(head).getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException e) {
            // the connection was given up
        }
    }

    private static String answer(String head) {
        boolean webSocket = head.contains("\r\nUpgrade: websocket\r\n")
                && head.contains("\r\nConnection: Upgrade\r\n") && head.contains("\r\nSec-WebSocket-Key: ");
        if (webSocket) {
            return "HTTP/1.1 101 Switching Protocols\r\nUPGRADE: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: x\r\nX-Custom-ID: 7\r\n\r\n" + head;
        }
        if (!head.contains("\r\nHost: ")) {
            return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        }
        String fields = "X-Custom-ID: 7\r\nETag: \"1\"\r\nx-MiXeD: 1\r\nX-MIXED: 2\r\n";
        return head.startsWith("GET /chunked ")
                ? "HTTP/1.1 103 Early Hints\r\nLINK: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + fields
                        + "Trailer: X-SUM\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + Integer.toHexString(head.length()) + "\r\n" + head + "\r\n0\r\nX-SUM: 1\r\n\r\n"
                : "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + head.length() + "\r\n\r\n" + head;
    }

    /** A head up to its empty line; empty at the end of the connection. */
    private static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                return "";
            }
            head.append((char) next);
        }
        return head.toString();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}

package dev.culvert.launcher.cache;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Answers every request on 127.0.0.1 alike: as an admin API with one runtime, a connected client, and an
 * upstream. It only serves parts that this process has started, whose requests have no bodies.
 */
final class CannedServer implements AutoCloseable {
    private static final String BODY = """
            {"state":"connected","runtime":"acme/prod","sessions":[],"next":null,
             "items":[{"account":"acme","name":"prod","state":"connected","host":"acme-prod.x.test","tunnels":[]}]}
            """;
    private static final int MAX_HEAD = 64 << 10;

    private final ServerSocket listener;

    private CannedServer(ServerSocket listener) {
        this.listener = listener;
    }

    static CannedServer start() throws IOException {
        var server = new CannedServer(new ServerSocket(0, 16, InetAddress.ofLiteral("127.0.0.1")));
        Thread.ofVirtual().start(server::accept);
        return server;
    }

    String url() {
        return "http://127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void serve(Socket socket) {
        byte[] answer = ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                + BODY.length()
                + "\r\n\r\n" + BODY).getBytes(StandardCharsets.US_ASCII);
        try (socket) {
            while (readHead(socket.getInputStream())) {
                socket.getOutputStream().write(answer);
            }
        } catch (IOException e) {
            // the part has gone
        }
    }

    /** False at the end of the connection. */
    private static boolean readHead(InputStream in) throws IOException {
        int newlines = 0;
        for (int read = 0; read < MAX_HEAD && newlines < 2; read++) {
            int c = in.read();
            if (c < 0) {
                return false;
            }
            newlines = c == '\n' ? newlines + 1 : c == '\r' ? newlines : 0;
        }
        return newlines == 2;
    }
}

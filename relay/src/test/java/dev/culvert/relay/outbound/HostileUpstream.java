package dev.culvert.relay.outbound;

import dev.culvert.relay.testing.AnswerCase;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * An upstream on a real port. Answers {@code /case/N} with the bytes of a case and another response behind them, and
 * every other path with 200 and the path as body.
 */
final class HostileUpstream implements AutoCloseable {
    static final String POISON = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON";

    /** The connections that carried a case and were closed by the gateway, with what it sent on them afterwards. */
    final BlockingQueue<String> closed = new LinkedBlockingQueue<>();
    private final List<AnswerCase> cases;
    private final ServerSocket server;
    private final Set<Socket> peers = ConcurrentHashMap.newKeySet();

    HostileUpstream(List<AnswerCase> cases) {
        this.cases = cases;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket peer = server.accept();
                peers.add(peer);
                Thread.ofVirtual().start(() -> serve(peer));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket peer) {
        try (peer) {
            InputStream in = new BufferedInputStream(peer.getInputStream());
            for (String path = path(in); path != null; path = path(in)) {
                if (path.startsWith("/case/")) {
                    AnswerCase given = cases.get(Integer.parseInt(path.substring(6)));
                    send(peer, given.bytes() + POISON);
                    closed.add(rest(in));
                    return;
                }
                send(peer, "HTTP/1.1 200 OK\r\nContent-Length: " + path.length() + "\r\n\r\n" + path);
            }
        } catch (IOException e) {
            // the gateway closed the connection
        } finally {
            peers.remove(peer);
        }
    }

    private static void send(Socket peer, String bytes) throws IOException {
        peer.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Reads to the end of the connection, in whatever way it ends. */
    private static String rest(InputStream in) {
        var rest = new StringBuilder();
        try {
            for (int c = in.read(); c >= 0; c = in.read()) {
                rest.append((char) c);
            }
        } catch (IOException e) {
            // reset: the gateway has not read all
        }
        return rest.toString();
    }

    /** Reads a head without a body; null at the end. */
    private static @Nullable String path(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            if (c < 0) {
                return null;
            }
            head.append((char) c);
        }
        return head.substring(head.indexOf(" ") + 1, head.indexOf(" HTTP/1.1"));
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket peer : peers) {
            peer.close();
        }
    }
}

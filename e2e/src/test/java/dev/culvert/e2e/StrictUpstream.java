package dev.culvert.e2e;

import dev.culvert.relay.testing.SeenRequest;
import dev.culvert.relay.testing.StrictReader;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An upstream on a plain socket that reads strictly, answers each request with 200, and remembers it. */
final class StrictUpstream implements AutoCloseable {
    private static final byte[] ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nseen"
            .getBytes(StandardCharsets.US_ASCII);

    /** Requests that came whole. */
    final List<SeenRequest> whole = new CopyOnWriteArrayList<>();
    /** What came and was no request. */
    final List<String> violations = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;

    StrictUpstream() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
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

    private void serve(Socket socket) {
        try (socket) {
            var reader = new StrictReader(new BufferedInputStream(socket.getInputStream()));
            for (SeenRequest seen = reader.next(); seen != null; seen = reader.next()) {
                whole.add(seen);
                socket.getOutputStream().write(ANSWER);
            }
        } catch (StrictReader.Violation e) {
            violations.add(String.valueOf(e.getMessage()));
        } catch (EOFException e) {
            // a request that was cut off, and never looked whole
        } catch (IOException e) {
            // reset: as well
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}

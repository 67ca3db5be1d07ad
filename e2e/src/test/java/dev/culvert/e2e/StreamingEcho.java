package dev.culvert.e2e;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * A WebSocket upstream on plain sockets that holds no message: {@code /frames} says each frame back as it comes, without
 * its mask; {@code /bytes} knows no frames and says the very bytes back.
 */
final class StreamingEcho implements AutoCloseable {
    private static final String ACCEPTED = """
            HTTP/1.1 101 Switching Protocols\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
            \r
            """;

    private static final int STEP = 64 << 10;
    private final ServerSocket listener;

    StreamingEcho() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofPlatform().daemon().start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed: the test is over
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            var in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), STEP));
            OutputStream out = socket.getOutputStream();
            String head = WebSocketBytes.head(in);
            out.write(ACCEPTED.getBytes(StandardCharsets.US_ASCII));
            if (head.startsWith("GET /bytes ")) {
                in.transferTo(out);
            } else {
                frames(in, out);
            }
        } catch (IOException e) {
            // its caller went away
        }
    }

    private static void frames(DataInputStream in, OutputStream out) throws IOException {
        byte[] step = new byte[STEP];
        byte[] key = new byte[4];
        int first;
        do {
            first = in.readUnsignedByte();
            long left = WebSocketBytes.length(in);
            in.readFully(key);
            out.write(WebSocketBytes.header(first, left, false));
            while (left > 0) {
                int some = (int) Math.min(left, STEP);
                in.readFully(step, 0, some);
                for (int i = 0; i < some; i++) {
                    step[i] ^= key[i & 3]; // a step is a multiple of four
                }
                out.write(step, 0, some);
                left -= some;
            }
        } while (first != WebSocketBytes.CLOSE);
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}

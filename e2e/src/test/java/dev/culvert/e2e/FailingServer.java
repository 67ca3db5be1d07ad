package dev.culvert.e2e;

import static dev.culvert.e2e.WebSocketBytes.CLOSE;
import static dev.culvert.e2e.WebSocketBytes.TEXT;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * A WebSocket upstream that says whole messages back, and fails the connection at the first frame that is wrong (reserved
 * bits, a reserved opcode, a continuation of nothing), at once, with the rest unread, as the servers of the Autobahn suite do.
 * The path says how: {@link Ending}.
 */
final class FailingServer implements AutoCloseable {
    private static final String ACCEPTED = """
            HTTP/1.1 101 Switching Protocols\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
            \r
            """;
    private static final int FIN = 0x80;
    private static final int RESERVED_BITS = 0x70;
    private static final int OPCODE = 0x0f;
    private final ServerSocket listener;

    /** How the connection is failed. */
    enum Ending {
        /** A Close frame, then an end and a reset: the socket is closed with bytes of the caller's unread. */
        CLOSE_UNREAD,
        /** A Close frame, then a reset. */
        CLOSE_AND_RESET,
        /** A reset without a Close frame. */
        RESET,
        /** A Close frame, then an orderly end: what the caller still sends is read. */
        CLOSE_AND_END
    }

    FailingServer() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port());
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

    /** Reads without a buffer: what is not read stays with the kernel. */
    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            var in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            String path = WebSocketBytes.head(in).split(" ", 3)[1];
            Ending ending = Ending.valueOf(path.substring(1));
            out.write(ACCEPTED.getBytes(StandardCharsets.US_ASCII));
            echo(in, out);
            if (ending != Ending.RESET) {
                out.write(new byte[]{(byte) CLOSE, 2, 0x03, (byte) 0xea}); // 1002
            }
            if (ending == Ending.CLOSE_AND_END) {
                socket.shutdownOutput();
                in.transferTo(OutputStream.nullOutputStream());
            } else {
                in.readByte(); // of the frame behind, whose rest stays unread
                if (ending != Ending.CLOSE_UNREAD) {
                    socket.setSoLinger(true, 0);
                }
            }
        } catch (IOException e) {
            // its caller went away
        }
    }

    /** Returns behind the first frame that is wrong. */
    private static void echo(DataInputStream in, OutputStream out) throws IOException {
        var message = new ByteArrayOutputStream();
        boolean open = false;
        while (true) {
            int first = in.readUnsignedByte();
            long length = WebSocketBytes.length(in);
            byte[] key = in.readNBytes(4);
            byte[] payload = in.readNBytes(Math.toIntExact(length));
            int opcode = first & OPCODE;
            if ((first & RESERVED_BITS) != 0 || opcode > 1 || (opcode == 0) != open) {
                return;
            }
            for (int i = 0; i < payload.length; i++) {
                payload[i] ^= key[i & 3];
            }
            message.writeBytes(payload);
            open = (first & FIN) == 0;
            if (!open) {
                out.write(WebSocketBytes.header(TEXT, message.size(), false));
                out.write(message.toByteArray());
                message.reset();
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}

package dev.culvert.router;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** An upstream whose every byte the test decides, on 127.0.0.1. */
final class RawUpstream implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;

    private final ServerSocket listener;

    RawUpstream() {
        this(new Plain());
    }

    RawUpstream(Sockets sockets) {
        try {
            listener = sockets.listen();
            listener.setSoTimeout(PATIENCE_MILLIS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port());
    }

    /** A head: these lines and an empty one. */
    static String head(String... lines) {
        return String.join("\r\n", lines) + "\r\n\r\n";
    }

    /** The next connection. */
    Peer accept() {
        try {
            return new Peer(listener.accept());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether nobody connects for a while. */
    boolean isLeftAlone(Duration time) {
        try {
            listener.setSoTimeout(Math.toIntExact(time.toMillis()));
            listener.accept().close();
            return false;
        } catch (java.net.SocketTimeoutException e) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes the listening socket. */
    interface Sockets {
        ServerSocket listen() throws IOException;
    }

    private static final class Plain implements Sockets {
        @Override
        public ServerSocket listen() throws IOException {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        }
    }

    /** One connection, as the upstream sees it. */
    static final class Peer implements AutoCloseable {
        private final Socket socket;

        Peer(Socket socket) {
            this.socket = socket;
            io(() -> socket.setSoTimeout(PATIENCE_MILLIS));
        }

        /** The next head, its empty line included. */
        String readHead() {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
                int next = read();
                if (next < 0) {
                    throw new AssertionError("ended within a head: " + head);
                }
                head.write(next);
            }
            return head.toString(StandardCharsets.ISO_8859_1);
        }

        String read(int bytes) {
            byte[] read = new byte[bytes];
            try {
                int size = socket.getInputStream().readNBytes(read, 0, bytes);
                return new String(read, 0, size, StandardCharsets.ISO_8859_1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The next byte, or -1 at the end, a reset included. */
        int read() {
            try {
                return socket.getInputStream().read();
            } catch (java.net.SocketException e) {
                return -1;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        Peer write(String text) {
            io(() -> {
                socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().flush();
            });
            return this;
        }

        /** Ends what it sends; goes on to read. */
        void endOutput() {
            io(socket::shutdownOutput);
        }

        /** Drops the socket, so that the other side sees a reset. */
        void reset() {
            io(() -> socket.setSoLinger(true, 0));
            close();
        }

        @Override
        public void close() {
            io(socket::close);
        }

        private static void io(Action action) {
            try {
                action.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private interface Action {
            void run() throws IOException;
        }
    }
}

package dev.culvert.routing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/** An upstream whose every byte the test decides, on 127.0.0.1. */
final class RawUpstream implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;

    private final ServerSocket listener;

    RawUpstream() {
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
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
        return new Peer(acceptSocket());
    }

    Socket acceptSocket() {
        try {
            return listener.accept();
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

    /** One connection, as the upstream sees it. */
    static final class Peer implements AutoCloseable {
        private static final int PIECE = 64 << 10;

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

        /** Writes the bytes of a long body, counted as they leave. */
        void writePattern(int bytes, AtomicLong written) {
            io(() -> {
                for (int from = 0; from < bytes; from += PIECE) {
                    byte[] piece = Asker.pattern(from, Math.min(PIECE, bytes - from));
                    socket.getOutputStream().write(piece);
                    written.addAndGet(piece.length);
                }
            });
        }

        /** The same, for as long as the other side wants it. */
        void tryWritePattern(int bytes) {
            try {
                writePattern(bytes, new AtomicLong());
            } catch (UncheckedIOException e) {
                close();
            }
        }

        /** Reads that many bytes and returns their checksum. */
        long readChecksum(int bytes) {
            CRC32 crc = new CRC32();
            for (int from = 0; from < bytes; from += PIECE) {
                crc.update(read(Math.min(PIECE, bytes - from)).getBytes(StandardCharsets.ISO_8859_1));
            }
            return crc.getValue();
        }

        /** Sends back what it gets, to the end. */
        void echo() {
            io(() -> {
                socket.getInputStream().transferTo(socket.getOutputStream());
                socket.close();
            });
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

package dev.culvert.e2e;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;

/** A client's end of a WebSocket whose handshake is done: raw bytes both ways. Blocking. */
interface Wire extends AutoCloseable {
    int PATIENCE_MILLIS = 20_000;

    void send(byte[] bytes) throws IOException;

    InputStream in();

    /** What the server's handshake said, with names in lower case. */
    String head();

    /** Ends it though another thread writes: TLS would wait for that one before it says goodbye. */
    default void cut() throws IOException {
        close();
    }

    @Override
    void close() throws IOException;

    /** All that comes until the server hangs up. Throws IOException when it does not in time, or resets. */
    default byte[] readAll() throws IOException {
        var bytes = new ByteArrayOutputStream();
        in().transferTo(bytes);
        return bytes.toByteArray();
    }

    /** To a server in the clear. */
    static Wire plain(int port, String host, String path, String... fields) throws IOException {
        return new OverSocket(connect(port), host, path, fields);
    }

    /** To a server over TLS, in HTTP/1.1; any certificate will do. */
    static Wire secure(int port, String host, String path, String... fields) throws IOException {
        return new OverSocket(tls(port), host, path, fields);
    }

    /** A connection to a server over TLS, in HTTP/1.1; any certificate will do. */
    static Socket tls(int port) throws IOException {
        Socket socket = Trusting.TLS.getSocketFactory().createSocket(connect(port), "localhost", port, true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    /** Shared, so that sessions are resumed. */
    final class Trusting {
        private static final SSLContext TLS = trusting();

        private Trusting() {}

        private static SSLContext trusting() {
            try {
                SSLContext tls = SSLContext.getInstance("TLS");
                tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
                return tls;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** HTTP/1.1: the connection is the WebSocket. */
    final class OverSocket implements Wire {
        private final Socket socket;
        private final InputStream in;
        private final String head;

        private OverSocket(Socket socket, String host, String path, String... fields) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(PATIENCE_MILLIS);
            send(WebSocketBytes.handshake(host, path, fields));
            in = socket.getInputStream();
            head = WebSocketBytes.head(in);
            if (!head.startsWith("HTTP/1.1 101 ")) {
                throw new IOException(head);
            }
        }

        @Override
        public void send(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        @Override
        public InputStream in() {
            return in;
        }

        @Override
        public String head() {
            return head;
        }

        @Override
        public void cut() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Says that nothing came in time. */
    static IOException silent() {
        return new SocketTimeoutException("nothing came within " + PATIENCE_MILLIS + " ms");
    }
}

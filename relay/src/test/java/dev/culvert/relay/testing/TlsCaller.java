package dev.culvert.relay.testing;

import dev.culvert.certs.TlsMaterial;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** A blocking TLS socket for tests that care about the bytes; trusts any server. */
public final class TlsCaller implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 10_000;
    private static final char[] NO_PASSWORD = {};

    private final OpenSocket plain;
    private final SSLSocket socket;

    public TlsCaller(int port) {
        this(port, null);
    }

    /** @param identity the certificate to show; null: none */
    public TlsCaller(int port, @Nullable TlsMaterial identity) {
        this(port, identity, "http/1.1");
    }

    /** @param protocol what ALPN offers */
    public TlsCaller(int port, @Nullable TlsMaterial identity, String protocol) {
        this(port, identity, protocol, "", null);
    }

    /** Sends {@code before} in front of the handshake. */
    public static TlsCaller behind(int port, String before) {
        return new TlsCaller(port, null, "http/1.1", before, null);
    }

    /** One that comes from this loopback address. */
    public static TlsCaller from(String source, int port) {
        return new TlsCaller(port, null, "http/1.1", "", source);
    }

    private TlsCaller(int port, @Nullable TlsMaterial identity, String protocol, String before,
            @Nullable String source) {
        try {
            SSLContext tls = identity == null ? Anonymous.TLS : context(identity);
            plain = new OpenSocket();
            plain.setReceiveBufferSize(64 << 10);
            if (source != null) {
                plain.bind(new java.net.InetSocketAddress(source, 0));
            }
            plain.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            plain.getOutputStream().write(before.getBytes(StandardCharsets.ISO_8859_1));
            socket = (SSLSocket) tls.getSocketFactory().createSocket(plain, "acme.example", port, true);
            socket.setSoTimeout(PATIENCE_MILLIS);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[]{protocol});
            socket.setSSLParameters(parameters);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A socket that can stay open behind a close_notify. */
    private static final class OpenSocket extends Socket {
        private volatile boolean staysOpen;

        @Override
        public void shutdownOutput() throws IOException {
            if (!staysOpen) {
                super.shutdownOutput();
            }
        }
    }

    /** Says that no more is sent, as RFC 8446 §6.1 has it. The TCP connection stays open, and can be read. */
    public TlsCaller closeNotify() throws IOException {
        plain.staysOpen = true;
        socket.shutdownOutput();
        return this;
    }

    /** Callers without a certificate share what is costly to make, and TLS sessions. */
    private static final class Anonymous {
        private static final SSLContext TLS;

        static {
            try {
                TLS = context(null);
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static SSLContext context(@Nullable TlsMaterial identity)
            throws GeneralSecurityException, IOException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys(identity), new TrustManager[]{new TrustAll()}, null);
        return tls;
    }

    private static KeyManager @Nullable [] keys(@Nullable TlsMaterial identity)
            throws GeneralSecurityException, IOException {
        if (identity == null) {
            return null;
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("client", identity.key(), NO_PASSWORD,
                identity.chain().toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    /** The test is about what follows the handshake. */
    private static final class TrustAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    public TlsCaller send(String text) {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public TlsCaller send(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    public TlsCaller get(String path) {
        return send("GET " + path + " HTTP/1.1\r\nHost: acme.example\r\n\r\n");
    }

    /** Sends the head of a request; the fields as lines. */
    public TlsCaller head(String line, String... fields) {
        return send(line + " HTTP/1.1\r\nHost: acme.example\r\n" + String.join("\r\n", List.of(fields))
                + (fields.length == 0 ? "" : "\r\n") + "\r\n");
    }

    /** Reads to the end of {@code end}. */
    public String readUntil(String end) {
        var text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            text.append((char) read());
        }
        return text.toString();
    }

    public String readHead() {
        return readUntil("\r\n\r\n");
    }

    /** Reads this many bytes. */
    public String read(int bytes) {
        var text = new StringBuilder();
        while (text.length() < bytes) {
            text.append((char) read());
        }
        return text.toString();
    }

    /** The connection, for callers that read and write it themselves. */
    public Socket socket() {
        return socket;
    }

    /** What ALPN agreed on, after the first bytes. */
    public String protocol() {
        return socket.getApplicationProtocol();
    }

    private int read() {
        try {
            int c = socket.getInputStream().read();
            if (c < 0) {
                throw new IllegalStateException("the edge closed the connection");
            }
            return c;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads to the end of the connection; how it ended stands behind the bytes unless it was in order. */
    public String readAll() {
        var bytes = new ByteArrayOutputStream();
        String end = "";
        try {
            socket.getInputStream().transferTo(bytes);
        } catch (SocketException e) {
            end = "<reset>";
        } catch (SSLException e) {
            end = e.getCause() instanceof SocketException ? "<reset>" : "<truncated>";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toString(StandardCharsets.ISO_8859_1) + end;
    }

    /** Ends what it sends with a FIN, without TLS's word for it. */
    public void end() {
        try {
            plain.shutdownOutput();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Leaves with a reset: what was not read yet is worth nothing. */
    public void reset() {
        try {
            plain.setSoLinger(true, 0);
            plain.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Leaves without a word. */
    @Override
    public void close() {
        try {
            plain.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

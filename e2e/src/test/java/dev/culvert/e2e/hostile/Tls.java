package dev.culvert.e2e.hostile;

import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** Blocking sockets from any loopback address, in the clear or with TLS that trusts every server. */
final class Tls {
    static final int PATIENCE_MILLIS = 30_000;
    private static final SSLContext ANONYMOUS = context(null);

    private static final Map<SSLSocket, Socket> PLAIN = Collections.synchronizedMap(new WeakHashMap<>());

    private Tls() {}

    /** Closes a connection without a word of TLS, for which it would have to wait while another thread writes. */
    static void hangUp(SSLSocket socket) throws IOException {
        Socket plain = PLAIN.get(socket);
        (plain == null ? socket : plain).close();
    }

    /** What shows this certificate when a server asks for one; null: shows none. */
    static SSLContext context(@Nullable TlsMaterial identity) {
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            KeyManagerFactory keys = null;
            if (identity != null) {
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(null, null);
                store.setKeyEntry("client", identity.key(), new char[0],
                        identity.chain().toArray(new Certificate[0]));
                keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                keys.init(store, new char[0]);
            }
            tls.init(keys == null ? null : keys.getKeyManagers(),
                    InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            return tls;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A connection from {@code source} to a port of 127.0.0.1, in the clear. */
    static Socket plain(String source, int port) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.setReuseAddress(true);
            socket.setReceiveBufferSize(16 << 10); // who does not read shall be noticed soon
            socket.bind(new InetSocketAddress(source, 0));
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** The same over TLS, anonymous, after its handshake. */
    static SSLSocket connect(String source, int port, String serverName, String... protocols)
            throws IOException {
        return connect(ANONYMOUS, source, port, serverName, protocols);
    }

    /** The same with a context's certificate. */
    static SSLSocket connect(SSLContext context, String source, int port, String serverName,
            String... protocols) throws IOException {
        Socket plain = plain(source, port);
        try {
            plain.setSoTimeout(PATIENCE_MILLIS);
            SSLSocket socket = (SSLSocket) context.getSocketFactory()
                    .createSocket(plain, serverName, port, true);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(protocols);
            socket.setSSLParameters(parameters);
            PLAIN.put(socket, plain);
            socket.startHandshake();
            plain.setSoTimeout(0);
            return socket;
        } catch (IOException e) {
            plain.close();
            throw e;
        }
    }
}

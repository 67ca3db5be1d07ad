package dev.culvert.e2e;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import javax.net.SocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A balancer that ends TLS, with a certificate for localhost, and passes the bytes on in the clear from 127.0.0.1. */
final class TlsEnd implements AutoCloseable {
    private static final char[] NO_PASSWORD = {};

    private final ServerSocket listener;
    private final IntSupplier target;
    private final SocketFactory onward;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    /**
     * @param certificates folder of the authority that callers trust
     * @param target port to pass connections on to
     */
    TlsEnd(Path certificates, IntSupplier target) throws IOException, GeneralSecurityException {
        this(certificates, target, SocketFactory.getDefault());
    }

    /** One that passes the bytes on by TLS of its own, without its caller's certificate. */
    static TlsEnd again(Path certificates, IntSupplier target) throws IOException, GeneralSecurityException {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return new TlsEnd(certificates, target, trusting.getSocketFactory());
    }

    private TlsEnd(Path certificates, IntSupplier target, SocketFactory onward)
            throws IOException, GeneralSecurityException {
        this.onward = onward;
        TlsMaterial own = CertificateAuthority
                .load(certificates.resolve("ca.crt"), certificates.resolve("ca.key"))
                .issueServer(List.of("localhost"), List.of(InetAddress.getLoopbackAddress()),
                        Duration.ofDays(1));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", own.key(), NO_PASSWORD, own.chain().toArray(new Certificate[0]));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, NO_PASSWORD);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        this.target = target;
        listener = tls.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket caller = listener.accept();
                open.add(caller);
                Thread.ofVirtual().start(() -> serve(caller));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket caller) {
        try (caller;
                Socket server = onward.createSocket(InetAddress.getLoopbackAddress(), target.getAsInt())) {
            open.add(server);
            Thread back = Thread.ofVirtual().start(() -> copy(server, caller));
            copy(caller, server);
            back.join();
        } catch (IOException e) {
            // One of the two went away.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // Over, in both directions.
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

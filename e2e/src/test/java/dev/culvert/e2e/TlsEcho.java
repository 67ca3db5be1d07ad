package dev.culvert.e2e;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * A server that ends TLS itself, with a certificate of its own authority for one name, and sends back what it gets; and its
 * callers, who trust that authority alone. Both block.
 */
final class TlsEcho implements AutoCloseable {
    private static final char[] NO_PASSWORD = {};
    private static final int PATIENCE_MILLIS = 20_000;

    private final String name;
    private final CertificateAuthority authority = CertificateAuthority.create("Upstream's own",
            Clock.systemUTC());
    private final TlsMaterial material;
    private final SSLServerSocket listener;

    /** @param name what its certificate is for */
    TlsEcho(String name) throws IOException, GeneralSecurityException {
        this.name = name;
        this.material = authority.issueServer(List.of(name), List.of(), Duration.ofDays(1));
        listener = (SSLServerSocket) server().getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.startVirtualThread(this::accept);
    }

    private SSLContext server() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", material.key(), NO_PASSWORD,
                material.chain().toArray(new Certificate[0]));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, NO_PASSWORD);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        return tls;
    }

    int port() {
        return listener.getLocalPort();
    }

    /** What its callers must see. */
    X509Certificate certificate() {
        return material.chain().getFirst();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket caller = listener.accept();
                Thread.startVirtualThread(() -> echo(caller));
            } catch (IOException e) {
                // closed, or a handshake that failed
            }
        }
    }

    /** Answers the caller's end with its own, behind all that it sent back. */
    private static void echo(Socket caller) {
        try (caller) {
            caller.getInputStream().transferTo(caller.getOutputStream());
        } catch (IOException e) {
            // the caller went away
        }
    }

    /** A caller that asks for the server by its name, at a port of this machine, and verifies its certificate. */
    SSLSocket call(int port) throws IOException, GeneralSecurityException {
        return call(name, port);
    }

    /** The same with another name. */
    SSLSocket call(String asked, int port) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("authority", authority.certificate());
        TrustManagerFactory trust = TrustManagerFactory
                .getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        Socket plain = new Socket();
        plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(plain, asked, port, true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(asked)));
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return socket;
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package dev.culvert.certs;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Lets every server pass, and tells what it showed: for a diagnosis that says nothing secret on the connection. */
final class ObservingTrustManager extends X509ExtendedTrustManager {
    private final Consumer<Shown> seen;

    /**
     * What a server showed.
     *
     * @param engine of the handshake, to judge it with
     */
    record Shown(List<X509Certificate> chain, String authType, SSLEngine engine) {}

    ObservingTrustManager(Consumer<Shown> seen) {
        this.seen = seen;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
        seen.accept(new Shown(List.of(chain), authType, engine));
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("a server without a host name");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("blocking sockets are not served here");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }
}

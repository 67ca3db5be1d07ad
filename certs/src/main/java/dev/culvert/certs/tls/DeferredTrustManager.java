package dev.culvert.certs.tls;

import dev.culvert.certs.ClientCertificates;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Lets every client through the handshake: {@link ClientCertificates#verify} judges afterwards, where the refusal can
 * say why. Names the authorities, so that clients know which certificate to show.
 */
final class DeferredTrustManager extends X509ExtendedTrustManager {
    private final List<X509Certificate> authorities;

    DeferredTrustManager(List<X509Certificate> authorities) {
        this.authorities = authorities;
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authorities.toArray(new X509Certificate[0]);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {
        // Judged after the handshake.
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
        // Judged after the handshake.
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
        // Judged after the handshake.
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("for clients only");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("for clients only");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw new CertificateException("for clients only");
    }
}

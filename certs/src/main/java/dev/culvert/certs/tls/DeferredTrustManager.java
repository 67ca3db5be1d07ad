package dev.culvert.certs.tls;

import dev.culvert.certs.ClientCertificates;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Accepts every client in the handshake. {@link ClientCertificates#verify} checks the certificate afterwards,
 * when a refusal can state its reason. Sends the names of the authorities, so that clients can select a
 * certificate.
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
        // Verified after the handshake.
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
        // Verified after the handshake.
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
        // Verified after the handshake.
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

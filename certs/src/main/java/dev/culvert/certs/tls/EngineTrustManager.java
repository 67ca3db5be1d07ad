package dev.culvert.certs.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trust manager for outgoing connections with an SSLEngine, which knows the host. Refuses all other kinds of
 * checks. Subclasses check the server's certificates.
 */
abstract sealed class EngineTrustManager extends X509ExtendedTrustManager
        permits ObservingTrustManager, ServerTrustManager {

    @Override
    public final X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }

    @Override
    public final void checkServerTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        throw new CertificateException("a server without a host name to verify");
    }

    @Override
    public final void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("blocking sockets are not served here");
    }

    @Override
    public final void checkClientTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public final void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }

    @Override
    public final void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw new CertificateException("for servers only");
    }
}

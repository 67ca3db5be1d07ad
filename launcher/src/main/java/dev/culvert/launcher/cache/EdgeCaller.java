package dev.culvert.launcher.cache;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** Sends requests to a server's edge, whose authority is a file. */
final class EdgeCaller {
    private final SSLContext tls;

    EdgeCaller(Path ca) throws IOException, GeneralSecurityException {
        var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream in = Files.newInputStream(ca)) {
            trusted.setCertificateEntry("ca",
                    CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        this.tls = SSLContext.getInstance("TLS");
        tls.init(null, managers.getTrustManagers(), null);
    }

    /** Sends a GET request to {@code 127.0.0.1}, and reads what comes until the end of the connection. */
    void get(int port, String host, String path) throws IOException {
        try (var socket = (SSLSocket) tls.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        }
    }
}

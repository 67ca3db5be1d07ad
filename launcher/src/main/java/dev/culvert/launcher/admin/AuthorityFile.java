package dev.culvert.launcher.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A PEM file of authorities that short commands trust. Uses the JDK alone, which loads fastest. Blocks. */
public final class AuthorityFile {
    private AuthorityFile() {}

    /**
     * Makes a TLS context that trusts the authorities in a file and no others.
     *
     * @throws IOException if the file can't be read or holds no certificate
     */
    public static SSLContext trusting(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            for (Certificate authority : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                trusted.setCertificateEntry("ca" + trusted.size(), authority);
            }
            if (trusted.size() == 0) {
                throw new CertificateException("no certificate");
            }
            var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, managers.getTrustManagers(), null);
            return tls;
        } catch (GeneralSecurityException e) {
            throw new IOException(file + " holds no PEM certificates", e);
        }
    }
}

package dev.culvert.appproxy.commits.git;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Trusts the authorities of a file in addition to the public ones. */
final class ExtraTrust {
    private ExtraTrust() {}

    /** Makes trust managers for the public authorities and those of a PEM file, read now. Blocks. */
    static TrustManager[] of(Path ca) throws IOException {
        try (InputStream pem = Files.newInputStream(ca)) {
            Collection<? extends Certificate> extra = CertificateFactory.getInstance("X.509")
                    .generateCertificates(pem);
            KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
            all.load(null, null);
            int number = 0;
            for (TrustManager manager : managers(null)) {
                for (X509Certificate authority : ((X509TrustManager) manager).getAcceptedIssuers()) {
                    all.setCertificateEntry("public-" + number++, authority);
                }
            }
            for (Certificate authority : extra) {
                all.setCertificateEntry("extra-" + number++, authority);
            }
            return managers(all);
        } catch (GeneralSecurityException e) {
            throw new IOException("the Git provider's authorities can't be read", e);
        }
    }

    private static TrustManager[] managers(@Nullable KeyStore store) throws GeneralSecurityException {
        var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }
}

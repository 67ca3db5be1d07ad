package dev.culvert.certs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.KeyPurposeId;

/** Certificates that the authority itself would never issue, signed with its key. */
final class Forgery {
    private Forgery() {}

    static X509Certificate client(CertificateAuthority ca, Clock clock, String... uris) {
        var names = Arrays.stream(uris)
                .map(uri -> new GeneralName(GeneralName.uniformResourceIdentifier, uri))
                .toList();
        return new CertificateBuilder(new X500Principal("CN=x"), KeyPairs.generate().getPublic(),
                clock.instant(),
                Duration.ofDays(1)).leaf(KeyPurposeId.id_kp_clientAuth, names)
                .sign(ca.certificate().getSubjectX500Principal(), ca.certificate().getPublicKey(), key(ca));
    }

    private static PrivateKey key(CertificateAuthority ca) {
        try {
            Path folder = Files.createTempDirectory("forgery");
            try {
                ca.writeTo(folder.resolve("crt"), folder.resolve("key"));
                return PemFiles.readKey(folder.resolve("key"));
            } finally {
                Files.deleteIfExists(folder.resolve("crt"));
                Files.deleteIfExists(folder.resolve("key"));
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

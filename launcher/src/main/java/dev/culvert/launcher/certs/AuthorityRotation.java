package dev.culvert.launcher.certs;

import dev.culvert.certs.AlternativeNames;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;

/**
 * Replaces the authority of a {@link CertsFolder} in three steps with time between them (docs/operations.md),
 * and renews the listeners' certificates. Each file is replaced atomically, and an interrupted step may be
 * repeated. A running server reloads the files. Blocks on the disk. Errors: {@link CertsException}; a refused
 * step changes nothing.
 *
 * @param folder the folder with {@code ca.crt} and {@code ca.key}
 */
public record AuthorityRotation(CertsFolder folder) {
    /** The maximum base name, which leaves space for a date in a common name of 64 characters. */
    private static final int MAX_BASE_NAME = 50;

    /**
     * Creates the next authority, {@code next-ca.crt} and {@code next-ca.key}, and adds it to the trusted
     * ones.
     */
    public void begin() {
        List<X509Certificate> trusted = PemFiles.readCertificates(caCertificate());
        if (Files.exists(previousKey())) {
            throw new CertsException(previousKey()
                    + " is there: an earlier rotation is not finished (expected: --authority finish first)");
        }
        if (Files.exists(nextKey()) && fits(nextKey(), trusted)) {
            throw new CertsException(
                    nextKey() + " is there and trusted already (expected: --authority change, once"
                            + " every client has renewed)");
        }
        CertificateAuthority present = CertificateAuthority.load(caCertificate(), caKey());
        CertificateAuthority next = present.successor(nextName(present.certificate()));
        next.writeTo(folder.file("next-ca.crt"), nextKey());
        write(Stream.concat(trusted.stream(), Stream.of(next.certificate())).toList());
    }

    /**
     * Makes the next authority the issuer of the certificates of clients and of the tunnel listener. The
     * previous one stays trusted.
     */
    public void change() {
        if (Files.exists(nextKey())) {
            if (!fits(nextKey(), PemFiles.readCertificates(caCertificate()))) {
                throw new CertsException(nextKey() + ": its certificate is not in " + caCertificate()
                        + " (expected: --authority begin first)");
            }
            if (!Files.exists(previousKey())) {
                PemFiles.writeKey(previousKey(), PemFiles.readKey(caKey()));
            }
            PemFiles.writeKey(caKey(), PemFiles.readKey(nextKey()));
        } else if (!Files.exists(previousKey())) {
            throw new CertsException(
                    "there is no " + nextKey() + " (expected: --authority begin first)");
        }
        CertificateAuthority present = CertificateAuthority.load(caCertificate(), caKey());
        write(present.authorities());
        renew("tunnel");
        delete(nextKey());
        delete(folder.file("next-ca.crt"));
    }

    /** Trusts only the issuing authority and removes the key of the previous one. */
    public void finish() {
        if (Files.exists(nextKey())) {
            throw new CertsException(nextKey() + " is there: the next authority does not sign yet (expected:"
                    + " --authority change first)");
        }
        CertificateAuthority present = CertificateAuthority.load(caCertificate(), caKey());
        for (String listener : List.of("edge", "tunnel")) {
            Path file = folder.file(listener + ".crt");
            if (Files.exists(file) && isByAnotherOf(present, PemFiles.readCertificates(file).getFirst())) {
                throw new CertsException(
                        file + " is by an authority that ends with this step (expected: culvert certs"
                                + " renew first, once callers trust " + caCertificate() + ")");
            }
        }
        write(List.of(present.certificate()));
        delete(previousKey());
    }

    /** Renews the certificates of both listeners with new keys and the present names. */
    public void renewListeners() {
        renew("edge");
        renew("tunnel");
    }

    private void renew(String listener) {
        Path certificate = folder.file(listener + ".crt");
        X509Certificate old = PemFiles.readCertificates(certificate).getFirst();
        AlternativeNames names;
        try {
            names = AlternativeNames.of(old);
        } catch (CertsException e) {
            throw new CertsException(certificate + ": its names can't be read", e);
        }
        TlsMaterial next = folder.authority().issueServer(names.dns(), names.addresses(), CertsFolder.LIFE);
        next.writeTo(certificate, folder.file(listener + ".key"));
    }

    private static boolean isByAnotherOf(CertificateAuthority present, X509Certificate leaf) {
        return present.authorities().stream().skip(1).anyMatch(other -> {
            try {
                leaf.verify(other.getPublicKey());
                return true;
            } catch (GeneralSecurityException e) {
                return false;
            }
        });
    }

    private static boolean fits(Path key, List<X509Certificate> certificates) {
        return certificates.stream().anyMatch(certificate -> {
            try {
                new TlsMaterial(List.of(certificate), PemFiles.readKey(key));
                return true;
            } catch (CertsException e) {
                return false;
            }
        });
    }

    /** The common name of the next authority, which differs from the previous one by its date. */
    private static String nextName(X509Certificate present) {
        String base;
        try {
            var names = new LdapName(present.getSubjectX500Principal().getName());
            base = String.valueOf(names.getRdn(names.size() - 1).getValue()).replaceAll(" since \\S+$", "");
        } catch (InvalidNameException e) {
            throw new CertsException("the authority's name can't be read", e);
        }
        return (base.length() > MAX_BASE_NAME - 7 ? base.substring(0, MAX_BASE_NAME - 7) : base) + " since "
                + LocalDate.now(ZoneOffset.UTC);
    }

    private void write(List<X509Certificate> trusted) {
        PemFiles.writeCertificates(caCertificate(), trusted);
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new CertsException(file + ": can't be removed: " + Reason.of(e), e);
        }
    }

    private Path caCertificate() {
        return folder.caCertificate();
    }

    private Path caKey() {
        return folder.file("ca.key");
    }

    private Path nextKey() {
        return folder.file("next-ca.key");
    }

    private Path previousKey() {
        return folder.file("previous-ca.key");
    }
}

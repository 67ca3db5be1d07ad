package dev.culvert.launcher.certs;

import dev.culvert.certs.CertificateFacts;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.PemFiles;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The facts of the certificates in one file.
 *
 * @param file the file
 * @param certificates the certificates in the order of the file, at least one
 */
public record Inspection(Path file, List<Certificate> certificates) {
    public Inspection {
        certificates = List.copyOf(certificates);
    }

    /** Whether a certificate is valid by its dates. */
    public enum State {
        /** Valid now. */
        VALID,
        /** Expired. */
        EXPIRED,
        /** Not valid yet. */
        EARLY
    }

    /**
     * One certificate.
     *
     * @param facts the content of the certificate
     * @param state the state by the local clock
     * @param fits whether the key belongs to the certificate; null if no key was given
     */
    public record Certificate(CertificateFacts facts, State state, @Nullable Boolean fits) {}

    /**
     * Reads a file. Blocks.
     *
     * @param key the key to compare with each certificate's, or null
     * @throws CertsException that names the file if it can't be read
     */
    public static Inspection of(Path file, @Nullable PrivateKey key, Instant now) {
        List<Certificate> certificates = new ArrayList<>();
        for (X509Certificate each : PemFiles.readCertificates(file)) {
            try {
                CertificateFacts facts = CertificateFacts.of(each);
                Boolean fits = key == null ? null : KeyPairs.match(key, each.getPublicKey());
                certificates.add(new Certificate(facts, state(facts, now), fits));
            } catch (CertsException e) {
                throw new CertsException(file + ": " + e.getMessage(), e);
            }
        }
        return new Inspection(file, certificates);
    }

    /**
     * Whether all certificates are valid now and the key belongs to the first one, or among authorities to
     * any.
     */
    public boolean passes() {
        return certificates.stream().allMatch(each -> each.state() == State.VALID) && keyFits();
    }

    private boolean keyFits() {
        Certificate first = certificates.getFirst();
        return !Boolean.FALSE.equals(first.fits()) || first.facts().authority()
                && certificates.stream().anyMatch(each -> Boolean.TRUE.equals(each.fits()));
    }

    private static State state(CertificateFacts facts, Instant now) {
        return now.isAfter(facts.notAfter())
                ? State.EXPIRED
                : now.isBefore(facts.notBefore()) ? State.EARLY : State.VALID;
    }
}

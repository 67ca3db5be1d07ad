package dev.culvert.certs;

import java.math.BigInteger;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/** Builds one certificate: names, validity, extensions, serial number. */
final class CertificateBuilder {
    /** The bit of keyCertSign (RFC 5280 §4.2.1.3). */
    static final int KEY_CERT_SIGN = 5;
    /** Certificates become valid this long before their issue, for peers whose clock is behind. */
    private static final Duration BACKDATED = Duration.ofMinutes(5);
    /** The random bits of a serial number. RFC 5280 §4.1.2.2 allows positive numbers of 20 bytes. */
    private static final int SERIAL_BITS = 127;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final X500Principal subject;
    private final PublicKey publicKey;
    private final Instant notBefore;
    private final List<Extra> extensions = new ArrayList<>();
    private Instant notAfter;

    /** An extension that does not depend on a key. */
    private record Extra(ASN1ObjectIdentifier id, boolean critical, ASN1Encodable value) {}

    CertificateBuilder(X500Principal subject, PublicKey publicKey, Instant now, Duration life) {
        this.subject = subject;
        this.publicKey = publicKey;
        this.notBefore = now.minus(BACKDATED);
        this.notAfter = now.plus(life);
    }

    /** Limits the validity to that of the issuer. */
    CertificateBuilder notAfter(Instant latest) {
        notAfter = notAfter.isAfter(latest) ? latest : notAfter;
        return this;
    }

    CertificateBuilder authority() {
        extensions.add(new Extra(Extension.basicConstraints, true, new BasicConstraints(0)));
        extensions.add(
                new Extra(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign)));
        return this;
    }

    /** Sets the names that an authority may sign; null means all names. */
    CertificateBuilder permitting(@Nullable PermittedNames names) {
        if (names != null) {
            extensions.add(new Extra(Extension.nameConstraints, true, names.constraints()));
        }
        return this;
    }

    CertificateBuilder leaf(KeyPurposeId purpose, List<GeneralName> names) {
        extensions.add(new Extra(Extension.basicConstraints, true, new BasicConstraints(false)));
        extensions.add(new Extra(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature)));
        extensions.add(new Extra(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose)));
        extensions.add(new Extra(Extension.subjectAlternativeName, false,
                new GeneralNames(names.toArray(new GeneralName[0]))));
        return this;
    }

    X509Certificate sign(X500Principal issuer, PublicKey issuerKey, PrivateKey signingKey) {
        var serial = new BigInteger(SERIAL_BITS, RANDOM).setBit(SERIAL_BITS - 1);
        try {
            var builder = new JcaX509v3CertificateBuilder(issuer, serial, Date.from(notBefore),
                    Date.from(notAfter),
                    subject, publicKey);
            for (Extra extension : extensions) {
                builder.addExtension(extension.id(), extension.critical(), extension.value());
            }
            var keyIds = new JcaX509ExtensionUtils();
            builder.addExtension(Extension.subjectKeyIdentifier, false,
                    keyIds.createSubjectKeyIdentifier(publicKey));
            builder.addExtension(Extension.authorityKeyIdentifier, false,
                    keyIds.createAuthorityKeyIdentifier(issuerKey));
            var signer = new JcaContentSignerBuilder(CertificateAuthority.SIGNATURE).build(signingKey);
            return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
        } catch (CertIOException | NoSuchAlgorithmException | OperatorCreationException
                | CertificateException e) {
            throw new CertsException("a certificate for " + subject + " can't be signed", e);
        }
    }
}

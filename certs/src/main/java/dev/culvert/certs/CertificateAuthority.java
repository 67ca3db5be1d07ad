package dev.culvert.certs;

import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.CRLNumber;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v2CRLBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A certificate authority with an ECDSA P-256 key, which issues the certificates of listeners and clients.
 * Its own certificate is valid for ten years and signs only leaf certificates. No issued certificate outlives
 * it.
 */
public final class CertificateAuthority {
    static final String SIGNATURE = "SHA256withECDSA";
    /**
     * The validity of the authority. Long, because clients store the authority and a replacement requires a
     * rotation (docs/operations.md).
     */
    private static final Duration LIFE = Duration.ofDays(3650);
    /** The longest common name (RFC 5280, ub-common-name). */
    private static final int MAX_COMMON_NAME = 64;

    /** More than any rotation needs. The bound keeps the responses that contain the authorities small. */
    private static final int MAX_AUTHORITIES = 8;

    private final X509Certificate certificate;
    private final List<X509Certificate> authorities;
    private final PrivateKey key;
    private final Clock clock;

    private CertificateAuthority(X509Certificate certificate, List<X509Certificate> authorities,
            PrivateKey key, Clock clock) {
        this.certificate = certificate;
        this.authorities = authorities;
        this.key = key;
        this.clock = clock;
    }

    /**
     * Creates a self-signed authority with a new key. {@code clock} also dates the certificates that it
     * issues.
     */
    public static CertificateAuthority create(String commonName, Clock clock) {
        return create(commonName, clock, null);
    }

    /**
     * As {@link #create(String, Clock)}, restricted to listeners with these names. OpenSSL, browsers and most
     * other clients enforce the restriction; Java does not.
     *
     * @param domains domains, including all subdomains
     * @param addresses IP addresses that clients connect to without a name
     */
    public static CertificateAuthority createFor(List<String> domains, List<InetAddress> addresses,
            String commonName, Clock clock) {
        return create(commonName, clock, PermittedNames.only(domains, addresses));
    }

    /** Creates a successor with a new key and the same permitted names. */
    public CertificateAuthority successor(String commonName) {
        return create(commonName, clock, PermittedNames.of(certificate));
    }

    private static CertificateAuthority create(String commonName, Clock clock,
            @Nullable PermittedNames permitted) {
        KeyPair keys = KeyPairs.generate();
        X500Principal name = commonName(commonName);
        var builder = new CertificateBuilder(name, keys.getPublic(), clock.instant(), LIFE);
        X509Certificate own = builder.authority()
                .permitting(permitted)
                .sign(name, keys.getPublic(), keys.getPrivate());
        return new CertificateAuthority(own, List.of(own), keys.getPrivate(), clock);
    }

    /** Reads an authority that uses the system clock. Blocks. See {@link #load(Path, Path, Clock)}. */
    public static CertificateAuthority load(Path certificate, Path key) {
        return load(certificate, key, Clock.systemUTC());
    }

    /**
     * Reads an authority. Blocks. If the file has several certificates, the one that matches the key is the
     * authority's own. The others are also trusted during a rotation of authorities. Throws {@link
     * CertsException} that names the file, unless the key is P-256 and matches one certificate, and all
     * certificates may sign others.
     */
    public static CertificateAuthority load(Path certificate, Path key, Clock clock) {
        List<X509Certificate> all = PemFiles.readCertificates(certificate);
        PrivateKey signing = PemFiles.readKey(key);
        X509Certificate own = all.stream()
                .filter(candidate -> KeyPairs.match(signing, candidate.getPublicKey()))
                .findFirst()
                .orElseThrow(() -> new CertsException(key + ": not the key of a certificate in " + certificate
                        + " (expected: the key that one of them was issued for)"));
        try {
            KeyPairs.of(signing);
        } catch (CertsException e) {
            throw new CertsException(key + ": " + e.getMessage(), e);
        }
        for (X509Certificate each : all) {
            if (!isAuthority(each)) {
                throw new CertsException(certificate + ": " + each.getSubjectX500Principal()
                        + " may not sign certificates (expected: a certificate authority, from culvert certs init)");
            }
        }
        if (all.size() > MAX_AUTHORITIES) {
            throw new CertsException(certificate + ": " + all.size() + " authorities (expected: at most "
                    + MAX_AUTHORITIES + ")");
        }
        List<X509Certificate> ownFirst = Stream.concat(Stream.of(own), all.stream()).distinct().toList();
        return new CertificateAuthority(own, ownFirst, signing, clock);
    }

    /**
     * An authority of texts in PEM, as {@link #certificate} and {@link #keyText} give them. Throws {@link
     * CertsException}.
     */
    public static CertificateAuthority of(String certificate, String key, Clock clock) {
        X509Certificate own = Pem.certificates(certificate).getFirst();
        PrivateKey signing = Pem.privateKey(key);
        if (!KeyPairs.match(signing, own.getPublicKey()) || !isAuthority(own)) {
            throw new CertsException("an authority whose key is not its certificate's");
        }
        return new CertificateAuthority(own, List.of(own), signing, clock);
    }

    /** Its private key as PEM: a secret. */
    public String keyText() {
        return Pem.text(key);
    }

    /** Whether the certificate permits its key to sign other certificates. */
    public static boolean isAuthority(X509Certificate certificate) {
        boolean[] usage = certificate.getKeyUsage();
        return certificate.getBasicConstraints() >= 0
                && (usage == null || usage[CertificateBuilder.KEY_CERT_SIGN]);
    }

    /** The authority's own certificate. */
    public X509Certificate certificate() {
        return certificate;
    }

    /** All trusted authorities, this one first: also its predecessors and its future successors. */
    public List<X509Certificate> authorities() {
        return authorities;
    }

    /**
     * Signs {@link #authorities} for the receiver of {@code issued}, so that no intermediary can substitute
     * other authorities.
     */
    public VouchedAuthorities vouch(X509Certificate issued) {
        byte[] signature = KeyProof.authorities(issued, authorities).sign(key);
        return new VouchedAuthorities(authorities, signature);
    }

    /** Writes certificate and key (mode 0600) as PEM. Blocks. */
    public void writeTo(Path certificateFile, Path keyFile) {
        new TlsMaterial(List.of(certificate), key).writeTo(certificateFile, keyFile);
    }

    /**
     * Issues the certificate of a listener with a new key. The chain is the leaf, then this authority.
     *
     * <p>Throws {@link CertsException} that contains the first name that the authority may not sign.
     *
     * @param dnsNames DNS names, which may begin with {@code *.}; together with {@code addresses} at least
     *     one name
     * @param addresses IP addresses that clients connect to without a name
     * @param life the validity, limited to that of the authority
     */
    public TlsMaterial issueServer(List<String> dnsNames, List<InetAddress> addresses, Duration life) {
        List<GeneralName> names = SubjectNames.of(dnsNames, addresses);
        PermittedNames permitted = PermittedNames.of(certificate);
        if (permitted != null) {
            permitted.check(names);
        }
        KeyPair keys = KeyPairs.generate();
        String first = !dnsNames.isEmpty()
                ? dnsNames.get(0)
                : permitted == null ? addresses.get(0).getHostAddress() : "culvert"; // otherwise it would be treated as a DNS name
        X509Certificate leaf = builder(commonName(first.length() > MAX_COMMON_NAME ? "culvert" : first),
                keys.getPublic(), life).leaf(KeyPurposeId.id_kp_serverAuth, names)
                .sign(certificate.getSubjectX500Principal(), certificate.getPublicKey(), key);
        return new TlsMaterial(List.of(leaf, certificate), keys.getPrivate());
    }

    /**
     * Issues the certificate of a tunnel client. The authority sets subject and names; those in the request
     * are ignored.
     *
     * @param request the request with the client's key, whose possession is already proven
     * @param identity the identity of the client
     * @param life the validity, limited to that of the authority
     */
    public X509Certificate issueClient(CertificateRequest request, ClientIdentity identity, Duration life) {
        var uri = new GeneralName(GeneralName.uniformResourceIdentifier, identity.uri().toString());
        X500Principal subject = commonName(identity.account() + "-" + identity.runtime());
        return builder(subject, request.publicKey(), life).leaf(KeyPurposeId.id_kp_clientAuth, List.of(uri))
                .sign(certificate.getSubjectX500Principal(), certificate.getPublicKey(), key);
    }

    /**
     * Issues a server's certificate for a foreign key. Throws {@link CertsException} for a name that is none.
     *
     * @param life the validity, limited to that of the authority
     */
    public X509Certificate signServer(PublicKey foreign, List<String> dnsNames, List<InetAddress> addresses,
            Duration life) {
        List<GeneralName> names = SubjectNames.of(dnsNames, addresses);
        String first = dnsNames.isEmpty() ? addresses.getFirst().getHostAddress() : dnsNames.getFirst();
        return builder(commonName(first.length() > MAX_COMMON_NAME ? "server" : first), foreign, life)
                .leaf(KeyPurposeId.id_kp_serverAuth, names)
                .sign(certificate.getSubjectX500Principal(), certificate.getPublicKey(), key);
    }

    /**
     * Issues a client's certificate for a foreign key.
     *
     * @param life the validity, limited to that of the authority
     */
    public X509Certificate signClient(PublicKey foreign, String name, Duration life) {
        return builder(commonName(name), foreign, life)
                .leaf(KeyPurposeId.id_kp_clientAuth, List.of(new GeneralName(GeneralName.dNSName, name)))
                .sign(certificate.getSubjectX500Principal(), certificate.getPublicKey(), key);
    }

    /**
     * Signs a list of revoked certificates (RFC 5280 §5), in DER.
     *
     * @param revoked when each was revoked, by serial number
     * @param number the number of the list: each newer one has a greater one
     * @param life until when a new one is expected
     */
    public byte[] revocations(Map<BigInteger, Instant> revoked, long number, Duration life) {
        Instant now = clock.instant();
        try {
            var list = new JcaX509v2CRLBuilder(certificate, Date.from(now));
            list.setNextUpdate(Date.from(now.plus(life)));
            revoked.forEach((serial, at) -> list.addCRLEntry(serial, Date.from(at), CRLReason.unspecified));
            list.addExtension(Extension.cRLNumber, false, new CRLNumber(BigInteger.valueOf(number)));
            list.addExtension(Extension.authorityKeyIdentifier, false,
                    new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(certificate.getPublicKey()));
            return list.build(new JcaContentSignerBuilder(SIGNATURE).build(key)).getEncoded();
        } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
            throw new CertsException("a list of revoked certificates can't be signed", e);
        }
    }

    private CertificateBuilder builder(X500Principal subject, PublicKey publicKey,
            Duration life) {
        if (life.isNegative() || life.isZero()) {
            throw new CertsException("life: " + life + " (expected: more than zero)");
        }
        return new CertificateBuilder(subject, publicKey, clock.instant(), life)
                .notAfter(certificate.getNotAfter().toInstant());
    }

    private static X500Principal commonName(String name) {
        if (name.isEmpty() || name.length() > MAX_COMMON_NAME) {
            throw new CertsException(
                    "common name " + name + " (expected: 1 to " + MAX_COMMON_NAME + " characters)");
        }
        return new X500Principal("CN=" + Rdn.escapeValue(name));
    }
}

package dev.culvert.certs;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.List;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.ASN1Encoding;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;

/**
 * A request for a certificate (PKCS#10) that proves possession of a P-256 key. Every instance has a valid
 * signature. It contains no names, because the authority sets them.
 */
public final class CertificateRequest {
    /**
     * Requests of Culvert have about 400 characters. Other requests may contain attributes, which are
     * ignored.
     */
    static final int MAX_PEM_CHARS = 4096;
    private static final String LABEL = "CERTIFICATE REQUEST";
    private static final String EXPECTED = " (expected: a PKCS#10 request for an ECDSA P-256 key)";

    private final byte[] der;
    private final PublicKey publicKey;

    private CertificateRequest(byte[] der, PublicKey publicKey) {
        this.der = der;
        this.publicKey = publicKey;
    }

    /** Creates and signs a request for {@code keys}. */
    public static CertificateRequest create(KeyPair keys) {
        try {
            var signer = new JcaContentSignerBuilder(CertificateAuthority.SIGNATURE).build(keys.getPrivate());
            var subject = new X500Principal("CN=culvert");
            var request = new JcaPKCS10CertificationRequestBuilder(subject, keys.getPublic()).build(signer);
            return new CertificateRequest(request.getEncoded(), keys.getPublic());
        } catch (OperatorCreationException | IOException e) {
            throw new CertsException("a certificate request can't be signed with this key", e);
        }
    }

    /**
     * Parses the request of a peer. Throws {@link CertsException} unless it is exactly one PEM block of at
     * most 4096 characters, in DER, for a valid P-256 key, signed by that key. The message may be shown to
     * the peer.
     */
    public static CertificateRequest parse(String pem) {
        if (pem.length() > MAX_PEM_CHARS) {
            throw new CertsException(
                    "a certificate request of " + pem.length() + " characters (expected: at most "
                            + MAX_PEM_CHARS + ")");
        }
        List<PemBlock> blocks = PemBlock.all(pem);
        if (blocks.size() != 1 || !blocks.get(0).label().equals(LABEL)
                || !pem.strip().startsWith("-----BEGIN")
                || !pem.strip().endsWith("-----END " + LABEL + "-----")) {
            throw new CertsException("not a certificate request (expected: one PEM block " + LABEL + ")");
        }
        byte[] der = blocks.get(0).content();
        try {
            return parse(der);
        } catch (CertsException e) {
            throw e;
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            // ASN.1 parsers throw every kind of unchecked exception for hostile input.
            throw new CertsException("a certificate request that can't be decoded" + EXPECTED, e);
        }
    }

    /** The PEM block. */
    public String pem() {
        return Pem.block(LABEL, der);
    }

    /** A copy of the DER bytes, which the proof of enrolment covers. */
    public byte[] encoded() {
        return der.clone();
    }

    /** The key for which the certificate is requested. */
    public PublicKey publicKey() {
        return publicKey;
    }

    private static CertificateRequest parse(byte[] der) throws IOException, GeneralSecurityException {
        var request = new PKCS10CertificationRequest(der);
        if (!Arrays.equals(request.toASN1Structure().getEncoded(ASN1Encoding.DER), der)) {
            throw new CertsException("a certificate request that is not in DER" + EXPECTED);
        }
        SubjectPublicKeyInfo info = request.getSubjectPublicKeyInfo();
        var algorithm = info.getAlgorithm();
        if (!algorithm.getAlgorithm().equals(X9ObjectIdentifiers.id_ecPublicKey)
                || !SECObjectIdentifiers.secp256r1.equals(algorithm.getParameters())) {
            throw new CertsException("a certificate request for another kind of key" + EXPECTED);
        }
        if (!request.getSignatureAlgorithm().getAlgorithm().equals(X9ObjectIdentifiers.ecdsa_with_SHA256)) {
            throw new CertsException(
                    "a certificate request with another signature (expected: ECDSA with SHA-256)");
        }
        // Refuses points that are not on the curve, which Java's decoder accepts.
        PublicKeyFactory.createKey(info);
        PublicKey key = KeyFactory.getInstance("EC")
                .generatePublic(new X509EncodedKeySpec(info.getEncoded()));
        Signature verifier = Signature.getInstance(CertificateAuthority.SIGNATURE);
        verifier.initVerify(key);
        verifier.update(request.toASN1Structure().getCertificationRequestInfo().getEncoded(ASN1Encoding.DER));
        if (!verifier.verify(request.getSignature())) {
            throw new CertsException("a certificate request whose signature is not by its own key");
        }
        return new CertificateRequest(der, key);
    }
}

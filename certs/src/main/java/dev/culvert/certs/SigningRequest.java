package dev.culvert.certs;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.bouncycastle.asn1.ASN1Encoding;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.edec.EdECObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.crypto.params.RSAKeyParameters;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;

/**
 * A request for a certificate (PKCS#10) of a foreign program, which proves possession of a key: ECDSA P-256
 * or P-384, Ed25519, or RSA of 2048 to 8192 bits. Every instance has a valid signature. Names and attributes
 * of the request are ignored: the authority sets them.
 */
public final class SigningRequest {
    /** An RSA request of 8192 bits has about 3,000 characters. */
    static final int MAX_PEM_CHARS = 16 << 10;
    private static final int MIN_RSA_BITS = 2048;
    private static final int MAX_RSA_BITS = 8192;
    private static final String LABEL = "CERTIFICATE REQUEST";
    private static final String NEW_LABEL = "NEW " + LABEL;
    private static final String EXPECTED = " (expected: a PKCS#10 request for a key of ECDSA P-256 or P-384, Ed25519,"
            + " or RSA of 2048 bits or more)";
    /** The signatures of requests, by their ids; those with MD5 or SHA-1 are none. */
    private static final Map<ASN1ObjectIdentifier, String> SIGNATURES = Map.of(
            X9ObjectIdentifiers.ecdsa_with_SHA256, "SHA256withECDSA", X9ObjectIdentifiers.ecdsa_with_SHA384,
            "SHA384withECDSA", X9ObjectIdentifiers.ecdsa_with_SHA512, "SHA512withECDSA",
            PKCSObjectIdentifiers.sha256WithRSAEncryption, "SHA256withRSA",
            PKCSObjectIdentifiers.sha384WithRSAEncryption, "SHA384withRSA",
            PKCSObjectIdentifiers.sha512WithRSAEncryption, "SHA512withRSA", EdECObjectIdentifiers.id_Ed25519,
            "Ed25519");

    private final PublicKey publicKey;

    private SigningRequest(PublicKey publicKey) {
        this.publicKey = publicKey;
    }

    /**
     * Parses the request of a peer: exactly one PEM block in DER. Throws {@link CertsException}, whose
     * message may be shown to the peer.
     */
    public static SigningRequest parse(String pem) {
        if (pem.length() > MAX_PEM_CHARS) {
            throw new CertsException(
                    "a certificate request of " + pem.length() + " characters (expected: at most "
                            + MAX_PEM_CHARS + ")");
        }
        List<PemBlock> blocks = PemBlock.all(pem);
        if (blocks.size() != 1 || !(blocks.getFirst().label().equals(LABEL)
                || blocks.getFirst().label().equals(NEW_LABEL))) {
            throw new CertsException("not a certificate request (expected: one PEM block " + LABEL + ")");
        }
        try {
            return parse(blocks.getFirst().content());
        } catch (CertsException e) {
            throw e;
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            // ASN.1 parsers throw every kind of unchecked exception for hostile input.
            throw new CertsException("a certificate request that can't be decoded" + EXPECTED, e);
        }
    }

    /** The key for which the certificate is requested. */
    public PublicKey publicKey() {
        return publicKey;
    }

    private static SigningRequest parse(byte[] der) throws IOException, GeneralSecurityException {
        var request = new PKCS10CertificationRequest(der);
        if (!Arrays.equals(request.toASN1Structure().getEncoded(ASN1Encoding.DER), der)) {
            throw new CertsException("a certificate request that is not in DER" + EXPECTED);
        }
        PublicKey key = key(request.getSubjectPublicKeyInfo());
        String algorithm = SIGNATURES.get(request.getSignatureAlgorithm().getAlgorithm());
        if (algorithm == null) {
            throw new CertsException(
                    "a certificate request with another signature (expected: ECDSA or RSA with"
                            + " SHA-256, SHA-384 or SHA-512, or Ed25519)");
        }
        Signature verifier = Signature.getInstance(algorithm);
        verifier.initVerify(key);
        verifier.update(request.toASN1Structure().getCertificationRequestInfo().getEncoded(ASN1Encoding.DER));
        if (!verifier.verify(request.getSignature())) {
            throw new CertsException("a certificate request whose signature is not by its own key");
        }
        return new SigningRequest(key);
    }

    private static PublicKey key(SubjectPublicKeyInfo info) throws IOException, GeneralSecurityException {
        var id = info.getAlgorithm().getAlgorithm();
        var spec = new X509EncodedKeySpec(info.getEncoded());
        var parsed = PublicKeyFactory.createKey(info); // refuses points that are not on the curve
        if (id.equals(X9ObjectIdentifiers.id_ecPublicKey)) {
            var curve = info.getAlgorithm().getParameters();
            if (SECObjectIdentifiers.secp256r1.equals(curve)
                    || SECObjectIdentifiers.secp384r1.equals(curve)) {
                return KeyFactory.getInstance("EC").generatePublic(spec);
            }
        } else if (id.equals(EdECObjectIdentifiers.id_Ed25519)) {
            return KeyFactory.getInstance("Ed25519").generatePublic(spec);
        } else if (id.equals(PKCSObjectIdentifiers.rsaEncryption) && parsed instanceof RSAKeyParameters rsa) {
            int bits = rsa.getModulus().bitLength();
            if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
                throw new CertsException("an RSA key of " + bits + " bits (expected: " + MIN_RSA_BITS + " to "
                        + MAX_RSA_BITS + ")");
            }
            return KeyFactory.getInstance("RSA").generatePublic(spec);
        }
        throw new CertsException("a certificate request for another kind of key" + EXPECTED);
    }
}

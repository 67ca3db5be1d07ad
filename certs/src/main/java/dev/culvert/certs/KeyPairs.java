package dev.culvert.certs;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import org.bouncycastle.asn1.sec.SECNamedCurves;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ECParameters;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.math.ec.ECPoint;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;

/** Creates ECDSA P-256 key pairs, the only kind that Culvert creates. */
public final class KeyPairs {
    private static final String CURVE = "secp256r1";

    private KeyPairs() {}

    /** Creates a P-256 pair from the platform's strong random source. */
    public static KeyPair generate() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(CURVE));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new CertsException("this Java has no elliptic curve P-256", e);
        }
    }

    /** Computes the pair of a private key. Throws {@link CertsException} unless it is a P-256 key. */
    public static KeyPair of(PrivateKey key) {
        X9ECParameters curve = SECNamedCurves.getByName(CURVE);
        if (!(key instanceof ECPrivateKey p256) || p256.getParams() == null
                || !p256.getParams().getOrder().equals(curve.getN())) {
            throw new CertsException(
                    "a private key of kind " + key.getAlgorithm() + " (expected: ECDSA P-256)");
        }
        ECPoint point = new FixedPointCombMultiplier().multiply(curve.getG(), p256.getS()).normalize();
        var algorithm = new AlgorithmIdentifier(X9ObjectIdentifiers.id_ecPublicKey,
                SECObjectIdentifiers.secp256r1);
        try {
            var encoded = new SubjectPublicKeyInfo(algorithm, point.getEncoded(false)).getEncoded();
            PublicKey publicKey = KeyFactory.getInstance("EC")
                    .generatePublic(new X509EncodedKeySpec(encoded));
            return new KeyPair(publicKey, key);
        } catch (GeneralSecurityException | IOException e) {
            throw new CertsException("the public half of a P-256 key can't be computed", e);
        }
    }

    /** Whether two keys are the halves of one pair, tested by signing and verifying. */
    public static boolean match(PrivateKey privateKey, PublicKey publicKey) {
        String algorithm = switch (privateKey.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> privateKey.getAlgorithm();
        };
        byte[] probe = {'p', 'r', 'o', 'b', 'e'};
        try {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(privateKey);
            signer.update(probe);
            byte[] signature = signer.sign();
            Signature verifier = Signature.getInstance(algorithm);
            verifier.initVerify(publicKey);
            verifier.update(probe);
            return verifier.verify(signature);
        } catch (GeneralSecurityException e) {
            // another curve or kind of key: not a pair
            return false;
        }
    }
}

package dev.culvert.certs;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.pkcs.RSAPrivateKey;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;

/** Converts the PEM encodings of private keys to Java's keys. */
final class PrivateKeys {
    private PrivateKeys() {}

    static PrivateKey decode(PemBlock block) throws GeneralSecurityException {
        try {
            PrivateKeyInfo info = info(block);
            String algorithm = algorithm(info);
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(info.getEncoded()));
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
    }

    private static PrivateKeyInfo info(PemBlock block) throws IOException {
        return switch (block.label()) {
            case "PRIVATE KEY" -> PrivateKeyInfo.getInstance(block.content());
            case "EC PRIVATE KEY" -> ec(ECPrivateKey.getInstance(block.content()));
            case "RSA PRIVATE KEY" -> new PrivateKeyInfo(
                    new AlgorithmIdentifier(PKCSObjectIdentifiers.rsaEncryption, DERNull.INSTANCE),
                    RSAPrivateKey.getInstance(block.content()));
            default -> throw new CertsException("-----BEGIN " + block.label()
                    + "----- (expected: a key without passphrase, -----BEGIN PRIVATE KEY-----)");
        };
    }

    private static PrivateKeyInfo ec(ECPrivateKey sec1) throws IOException {
        return new PrivateKeyInfo(
                new AlgorithmIdentifier(X9ObjectIdentifiers.id_ecPublicKey, sec1.getParametersObject()),
                sec1);
    }

    private static String algorithm(PrivateKeyInfo info) {
        var id = info.getPrivateKeyAlgorithm().getAlgorithm();
        if (id.equals(X9ObjectIdentifiers.id_ecPublicKey)) {
            return "EC";
        }
        // Java's key factories are also registered by object identifier.
        return id.equals(PKCSObjectIdentifiers.rsaEncryption) ? "RSA" : id.getId();
    }
}

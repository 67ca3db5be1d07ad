package dev.culvert.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An issuer's public keys, as a JWK set lists them (RFC 7517). Keys that are not usable for signatures are
 * left out: symmetric ones, those for encryption, RSA below 2048 bits.
 *
 * @param keys the keys, in the order of the set
 */
record SignatureKeys(List<JWK> keys) {
    /** The maximum number of keys: more than any rotation needs. */
    private static final int MAX_KEYS = 100;
    private static final int MIN_RSA_BITS = 2048;
    /** The prefix of the 32 bytes of an Ed25519 key (RFC 8410 §4). */
    private static final byte[] ED25519_PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

    SignatureKeys {
        keys = List.copyOf(keys);
    }

    /** Parses a JWK set. Throws ParseException for invalid JSON or a set without a usable key. */
    static SignatureKeys parse(byte[] json) throws ParseException {
        List<JWK> usable = JWKSet.parse(new String(json, StandardCharsets.UTF_8))
                .getKeys()
                .stream()
                .filter(SignatureKeys::isUsable)
                .limit(MAX_KEYS)
                .map(JWK::toPublicJWK)
                .toList();
        if (usable.isEmpty()) {
            throw new ParseException("no key of it is for signatures", 0);
        }
        return new SignatureKeys(usable);
    }

    private static boolean isUsable(JWK key) {
        boolean forSignatures = key.getKeyUse() == null || key.getKeyUse().equals(KeyUse.SIGNATURE);
        return forSignatures && switch (key) {
            case RSAKey rsa -> rsa.size() >= MIN_RSA_BITS;
            case ECKey ec -> true;
            case OctetKeyPair okp -> okp.getCurve().equals(Curve.Ed25519);
            default -> false;
        };
    }

    /**
     * The key that a signature names, or the only matching key if it names none; null if there is no such
     * key.
     */
    @Nullable
    JWK find(JWSHeader header) {
        String id = header.getKeyID();
        List<JWK> fitting = keys.stream()
                .filter(key -> fits(key, header.getAlgorithm()) && (id == null || id.equals(key.getKeyID())))
                .toList();
        return fitting.size() == 1 || (id != null && !fitting.isEmpty()) ? fitting.getFirst() : null;
    }

    /** Whether a key matches an algorithm: the one that it names, and only algorithms of its own kind. */
    private static boolean fits(JWK key, JWSAlgorithm algorithm) {
        if (key.getAlgorithm() != null && !key.getAlgorithm().getName().equals(algorithm.getName())) {
            return false;
        }
        return switch (key) {
            case RSAKey rsa -> JWSAlgorithm.Family.RSA.contains(algorithm);
            case ECKey ec -> Curve.forJWSAlgorithm(algorithm) != null
                    && Curve.forJWSAlgorithm(algorithm).contains(ec.getCurve());
            case OctetKeyPair okp -> algorithm.equals(JWSAlgorithm.EdDSA);
            default -> false;
        };
    }

    /**
     * Whether {@code signature} is the signature of {@code key} over {@code signed}. The key matches the
     * algorithm.
     */
    static boolean verify(JWK key, JWSHeader header, byte[] signed, Base64URL signature) {
        try {
            return switch (key) {
                case RSAKey rsa -> new RSASSAVerifier(rsa).verify(header, signed, signature);
                case ECKey ec -> new ECDSAVerifier(ec).verify(header, signed, signature);
                case OctetKeyPair okp -> verifyEd25519(okp, signed, signature);
                default -> false;
            };
        } catch (JOSEException | GeneralSecurityException e) {
            return false;
        }
    }

    /** RFC 8037 §3.1, with Java's own Ed25519, because the JOSE library needs a further library for it. */
    private static boolean verifyEd25519(OctetKeyPair key, byte[] signed, Base64URL signature)
            throws GeneralSecurityException {
        byte[] x = key.getX().decode();
        byte[] encoded = new byte[ED25519_PREFIX.length + x.length];
        System.arraycopy(ED25519_PREFIX, 0, encoded, 0, ED25519_PREFIX.length);
        System.arraycopy(x, 0, encoded, ED25519_PREFIX.length, x.length);
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(
                KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
        verifier.update(signed);
        return verifier.verify(signature.decode());
    }
}

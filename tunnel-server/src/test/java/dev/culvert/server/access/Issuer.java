package dev.culvert.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.function.UnaryOperator;

/** An issuer of tokens, whose keys a test changes. */
public final class Issuer {
    public static final String NAME = "https://issuer.example";
    public static final String AUDIENCE = "culvert";

    private Issuer() {}

    public static ECKey ec(String id) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public static RSAKey rsa(String id, int bits) {
        try {
            return new RSAKeyGenerator(bits, true).keyID(id).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public static byte[] jwks(JWK... keys) {
        return new JWKSet(List.of(keys)).toString(true).getBytes(StandardCharsets.UTF_8);
    }

    public static JWTClaimsSet.Builder claims(Instant now) {
        return new JWTClaimsSet.Builder().issuer(NAME)
                .audience(AUDIENCE)
                .subject("ann")
                .expirationTime(Date.from(now.plus(Duration.ofMinutes(5))));
    }

    public static String token(JWK key, Instant now, UnaryOperator<JWTClaimsSet.Builder> change) {
        try {
            return switch (key) {
                case ECKey ec ->
                    sign(JWSAlgorithm.ES256, key.getKeyID(), new ECDSASigner(ec), change.apply(claims(now)));
                case RSAKey rsa -> sign(JWSAlgorithm.RS256, key.getKeyID(), new RSASSASigner(rsa),
                        change.apply(claims(now)));
                default -> throw new IllegalArgumentException(key.toString());
            };
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String token(JWK key, Instant now) {
        return token(key, now, claims -> claims);
    }

    /** Signed with a secret, which is anybody's when it is a public key. */
    public static String hs256(byte[] secret, String id, Instant now) {
        try {
            return sign(JWSAlgorithm.HS256, id, new MACSigner(secret), claims(now));
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String sign(JWSAlgorithm algorithm, String id, JWSSigner signer,
            JWTClaimsSet.Builder claims)
            throws JOSEException {
        var jwt = new SignedJWT(new JWSHeader.Builder(algorithm).keyID(id).type(JOSEObjectType.JWT).build(),
                claims.build());
        jwt.sign(signer);
        return jwt.serialize();
    }
}

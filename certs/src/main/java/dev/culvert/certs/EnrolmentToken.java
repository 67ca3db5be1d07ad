package dev.culvert.certs;

import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The one-time token with which a new client obtains its certificate: {@code culvert1.<id>.<secret>.<pin>}.
 * The secret is never sent (docs/enrolment.md). The pin identifies the server's authority, so that the client
 * needs no CA file. {@code toString} masks the secret; only {@link #text} returns it.
 */
public final class EnrolmentToken {
    private static final String VERSION = "culvert1";
    private static final int ID_BYTES = 16;
    private static final int SECRET_BYTES = 32;
    /** A token has 121 characters. */
    private static final int MAX_CHARS = 256;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String id;
    private final byte[] secret;
    private final KeyPin caPin;

    private EnrolmentToken(String id, byte[] secret, KeyPin caPin) {
        this.id = id;
        this.secret = secret;
        this.caPin = caPin;
    }

    /** Creates a token with a random id (128 bits) and secret (256 bits) that pins {@code ca}. */
    public static EnrolmentToken generate(X509Certificate ca) {
        byte[] id = new byte[ID_BYTES];
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(id);
        RANDOM.nextBytes(secret);
        return new EnrolmentToken(Base64Url.encode(id), secret, KeyPin.of(ca));
    }

    /** Parses {@link #text}. Throws {@link CertsException}, which never quotes the text. */
    public static EnrolmentToken parse(String text) {
        List<String> parts = text.length() > MAX_CHARS ? List.of() : List.of(text.split("\\.", -1));
        if (parts.size() != 4 || !parts.get(0).equals(VERSION)) {
            throw new CertsException(
                    "not an enrolment token (expected: " + VERSION + ".<id>.<secret>.<pin>)");
        }
        Base64Url.decode("the enrolment token's id", parts.get(1), ID_BYTES);
        byte[] secret = Base64Url.decode("the enrolment token's secret", parts.get(2), SECRET_BYTES);
        Base64Url.decode("the enrolment token's pin", parts.get(3), KeyPin.BYTES);
        return new EnrolmentToken(parts.get(1), secret, KeyPin.parse(parts.get(3)));
    }

    /** The id of the token on the wire, in the store and in logs. Not a secret. */
    public String id() {
        return id;
    }

    /** The pin of the authority of the token's server. */
    public KeyPin caPin() {
        return caPin;
    }

    /**
     * The SHA-256 of the secret, which is all that the server stores and is the key of {@link
     * EnrolmentProof}. As secret as the token.
     */
    public byte[] secretHash() {
        return KeyPin.sha256(secret);
    }

    /** The token itself, a secret. Only for the operator and the token file. */
    public String text() {
        return VERSION + "." + id + "." + Base64Url.encode(secret) + "." + caPin.text();
    }

    @Override
    public String toString() {
        return VERSION + "." + id + ".***." + caPin.text();
    }
}

package dev.culvert.certs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proofs that both ends of an enrolment know the token, without sending it: HMAC-SHA-256 keyed with the
 * token's {@link EnrolmentToken#secretHash}, over a label and length-prefixed inputs (docs/enrolment.md). All
 * arrays are borrowed for the call.
 */
public final class EnrolmentProof {
    /** The length of a nonce in bytes. */
    public static final int NONCE_BYTES = 32;
    /** The length of a proof in bytes. */
    public static final int BYTES = 32;
    private static final String REQUEST = "culvert enrolment request v1";
    private static final String RESPONSE = "culvert enrolment response v1";

    private EnrolmentProof() {}

    /** The client's proof, which binds its certificate request to the server's nonce. */
    public static byte[] request(byte[] secretHash, byte[] nonce, byte[] csrDer) {
        return hmac(secretHash, REQUEST, nonce, csrDer);
    }

    /** The server's proof, which binds the issued certificate and its authority to the same nonce. */
    public static byte[] response(byte[] secretHash, byte[] nonce, byte[] certificateDer, byte[] caDer) {
        return hmac(secretHash, RESPONSE, nonce, certificateDer, caDer);
    }

    /** Compares two proofs in constant time. */
    public static boolean matches(byte[] expected, byte[] presented) {
        return MessageDigest.isEqual(expected, presented);
    }

    private static byte[] hmac(byte[] key, String label, byte[]... inputs) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            update(mac, label.getBytes(StandardCharsets.US_ASCII));
            for (byte[] input : inputs) {
                update(mac, input);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new CertsException("every Java platform has HMAC-SHA-256", e);
        }
    }

    /** Adds an input with its length first, so that no two lists of inputs give the same bytes. */
    private static void update(Mac mac, byte[] input) {
        mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, input.length));
        mac.update(input);
    }
}

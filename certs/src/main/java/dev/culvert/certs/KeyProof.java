package dev.culvert.certs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;

/**
 * Signatures that prove possession of a client's key outside TLS: ECDSA with SHA-256 over a label and
 * length-prefixed inputs (docs/enrolment.md). Each purpose has its own label, so that no proof can replace
 * another. All arrays are borrowed for the call.
 */
public final class KeyProof {
    /** The maximum length of a signature by a P-256 key in bytes of DER. */
    public static final int MAX_BYTES = 72;
    private static final String ALGORITHM = "SHA256withECDSA";
    private static final String RENEWAL = "culvert renewal v1";
    private static final String SESSION = "culvert session v1";
    private static final String AUTHORITIES = "culvert authorities v1";
    private static final String OPENING = "culvert opening v1";

    private final byte[] input;

    private KeyProof(String label, byte[]... inputs) {
        byte[] text = label.getBytes(StandardCharsets.US_ASCII);
        int length = Integer.BYTES + text.length;
        for (byte[] part : inputs) {
            length += Integer.BYTES + part.length;
        }
        ByteBuffer all = ByteBuffer.allocate(length).putInt(text.length).put(text);
        for (byte[] part : inputs) {
            all.putInt(part.length).put(part);
        }
        this.input = all.array();
    }

    /** Signed by the old key: its holder now requests a certificate for the key of a certificate request. */
    public static KeyProof renewal(byte[] nonce, byte[] csrDer) {
        return new KeyProof(RENEWAL, nonce, csrDer);
    }

    /** Signed by the key of a certificate: the client of this session holds the key. */
    public static KeyProof session(byte[] serverNonce, byte[] clientNonce, byte[] certificateDer) {
        return new KeyProof(SESSION, serverNonce, clientNonce, certificateDer);
    }

    /**
     * Signed by the key of a certificate before the session is live: the client holds the key, which TLS has
     * not proven.
     *
     * @param host the server's name or address to which the client connected, in lower case, without port
     */
    public static KeyProof opening(byte[] serverNonce, byte[] clientNonce, byte[] certificateDer,
            String host) {
        return new KeyProof(OPENING, serverNonce, clientNonce, certificateDer,
                host.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Signed by an authority's key: these authorities, itself first, are valid for the receiver of {@code
     * issued}.
     */
    static KeyProof authorities(X509Certificate issued, List<X509Certificate> authorities) {
        return new KeyProof(AUTHORITIES, Stream.concat(Stream.of(issued), authorities.stream())
                .map(KeyProof::encoded)
                .toArray(byte[][]::new));
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new CertsException("a certificate that has no encoding", e);
        }
    }

    /**
     * Signs the inputs. The caller owns the result, at most {@link #MAX_BYTES} bytes. Errors: {@link
     * CertsException}.
     */
    public byte[] sign(PrivateKey key) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(key);
            signature.update(input);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new CertsException("the key can't sign", e);
        }
    }

    /** Whether this was signed with the private half of {@code key}. Never throws for any input of a peer. */
    public boolean isBy(PublicKey key, byte[] signed) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(key);
            signature.update(input);
            return signature.verify(signed);
        } catch (SignatureException | InvalidKeyException e) {
            return false; // not DER, out of range, or a key of another kind
        } catch (GeneralSecurityException e) {
            throw new CertsException("every Java platform has " + ALGORITHM, e);
        }
    }
}

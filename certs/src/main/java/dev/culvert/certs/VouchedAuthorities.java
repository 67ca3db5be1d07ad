package dev.culvert.certs;

import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The authorities that a server sends to a client with a certificate, signed by the issuing authority
 * (docs/enrolment.md). A client's trust in them is based on an authority that it already trusts, not on the
 * end point of TLS.
 *
 * @param authorities the authorities, the signing one first; received ones are not trusted before {@link
 *     #verified}
 * @param signature the signature over the issued certificate and all authorities
 */
@SuppressWarnings("ArrayRecordComponent") // handed on, never compared
public record VouchedAuthorities(List<X509Certificate> authorities, byte[] signature) {
    /** The maximum number of authorities that a client stores. */
    private static final int MAX = 16;

    public VouchedAuthorities {
        authorities = List.copyOf(authorities);
    }

    /** The authorities' certificates as PEM. */
    public String pem() {
        return Pem.text(authorities);
    }

    /** The signature as text. */
    public String proof() {
        return Base64Url.encode(signature);
    }

    /** Parses the results of {@link #pem} and {@link #proof}. Errors: {@link CertsException}. */
    public static VouchedAuthorities parse(String pem, String proof) {
        return new VouchedAuthorities(Pem.certificates(pem),
                Base64Url.decodeUpTo("authoritiesProof", proof, KeyProof.MAX_BYTES));
    }

    /**
     * Returns the authorities if an already trusted one has signed them. Errors: {@link CertsException} with
     * the reason.
     *
     * @param issued the certificate that the server sent with them
     * @param believed the authorities that are trusted so far
     */
    public List<X509Certificate> verified(X509Certificate issued, List<X509Certificate> believed) {
        X509Certificate signer = authorities.getFirst();
        if (authorities.size() > MAX || !authorities.stream().allMatch(CertificateAuthority::isAuthority)) {
            throw new CertsException("not 1 to " + MAX + " certificates of authorities");
        }
        if (!believed.contains(signer)) {
            throw new CertsException(
                    "they are vouched for by " + signer.getSubjectX500Principal()
                            + ", which is not believed here");
        }
        if (!KeyProof.authorities(issued, authorities).isBy(signer.getPublicKey(), signature)) {
            throw new CertsException("the signature is not by " + signer.getSubjectX500Principal());
        }
        return authorities;
    }
}

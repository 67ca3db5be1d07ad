package dev.culvert.certs;

import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The authorities that a server names to a client along with a certificate, signed by the one that issues (docs/enrolment.md).
 * What a client takes over from it rests on an authority that it believes already, and not on who ended TLS on the way.
 *
 * @param authorities the one that signs first; as received they are worth nothing before {@link #verified}
 * @param signature over the certificate that they came with, and all of them
 */
@SuppressWarnings("ArrayRecordComponent") // handed on, never compared
public record VouchedAuthorities(List<X509Certificate> authorities, byte[] signature) {
    /** A client keeps no more. */
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

    /** Reads what {@link #pem} and {@link #proof} gave. Errors: {@link CertsException}. */
    public static VouchedAuthorities parse(String pem, String proof) {
        return new VouchedAuthorities(Pem.certificates(pem),
                Base64Url.decodeUpTo("authoritiesProof", proof, KeyProof.MAX_BYTES));
    }

    /**
     * The authorities, if one that is believed already vouches for them. Errors: {@link CertsException} with the reason.
     *
     * @param issued the certificate that they came with
     * @param believed until now
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

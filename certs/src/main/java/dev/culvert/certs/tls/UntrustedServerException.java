package dev.culvert.certs.tls;

import java.io.Serial;
import java.security.cert.CertificateException;

/**
 * The certificate of a server is not trusted. The message names hosts and authorities; {@link #reason} does
 * not.
 */
public final class UntrustedServerException extends CertificateException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Reason reason;

    /** Why it is not trusted. */
    public enum Reason {
        /** It, or an authority in its chain, has ended. */
        ENDED,
        /** It, or an authority in its chain, is not valid yet. */
        EARLY,
        /** No authority that is trusted here has signed it. */
        AUTHORITY,
        /** It is for other hosts. */
        HOST, OTHER
    }

    UntrustedServerException(Reason reason, String message, CertificateException refusal) {
        super(message, refusal);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}

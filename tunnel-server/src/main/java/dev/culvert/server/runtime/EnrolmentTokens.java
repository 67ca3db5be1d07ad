package dev.culvert.server.runtime;

import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.Sha256;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.function.Supplier;

/** Makes tokens that pin the authority of this server. */
public final class EnrolmentTokens implements TokenIssuer {
    private final Supplier<X509Certificate> ca;

    /** Makes the issuer of a server whose tunnel listener's certificate is signed by {@code ca}. */
    public EnrolmentTokens(X509Certificate ca) {
        this(() -> ca);
    }

    /** The same, for an authority that may be replaced; {@code ca} supplies the present one. */
    public EnrolmentTokens(Supplier<X509Certificate> ca) {
        this.ca = ca;
    }

    @Override
    public IssuedToken issue(String runtimeId, Instant expires) {
        EnrolmentToken token = EnrolmentToken.generate(ca.get());
        return new IssuedToken(token.text(),
                new StoredToken(token.id(), Sha256.from(token.secretHash()), runtimeId, expires, null, null));
    }
}

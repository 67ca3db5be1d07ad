package dev.culvert.server.enrol;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.VouchedAuthorities;
import dev.culvert.server.runtime.RegisteredRuntime;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Issues the certificates of tunnel clients, all with the same lifetime. Callable from any thread. */
public final class CertificateIssuer {
    private final Supplier<CertificateAuthority> ca;
    private final Duration life;
    private final PublicUrls urls;

    /** @param life the lifetime of each certificate; clients renew at two thirds of it */
    public CertificateIssuer(CertificateAuthority ca, Duration life) {
        this(() -> ca, life);
    }

    /** The same, for an authority that may be replaced; {@code ca} supplies the present one. */
    public CertificateIssuer(Supplier<CertificateAuthority> ca, Duration life) {
        this(ca, life, PublicUrls.of(0, false));
    }

    /**
     * The same, with the URLs that a client gets beside its certificate.
     *
     * @param urls the public URLs of runtimes
     */
    public CertificateIssuer(Supplier<CertificateAuthority> ca, Duration life, PublicUrls urls) {
        this.ca = ca;
        this.life = life;
        this.urls = urls;
    }

    /** The public URL of a runtime, or null while it is not known. */
    @Nullable
    String url(RegisteredRuntime runtime) {
        return urls.of(runtime.host());
    }

    /** The authority that signs. */
    public X509Certificate authority() {
        return ca.get().certificate();
    }

    /** All trusted authorities, the signing one first. */
    List<X509Certificate> authorities() {
        return ca.get().authorities();
    }

    /** The present authorities, vouched for the holder of {@code issued}. */
    VouchedAuthorities vouch(X509Certificate issued) {
        return ca.get().vouch(issued);
    }

    /** Issues a certificate for the request's key. A failure is the server's fault, not the request's. */
    X509Certificate issue(CertificateRequest request, RegisteredRuntime runtime) {
        try {
            var identity = new ClientIdentity(runtime.name().account(), runtime.name().name(),
                    runtime.identity());
            return ca.get().issueClient(request, identity, life);
        } catch (CertsException e) {
            throw new IllegalStateException("the authority can't issue certificates", e);
        }
    }
}

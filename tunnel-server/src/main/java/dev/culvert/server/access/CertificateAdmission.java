package dev.culvert.server.access;

import dev.culvert.certs.CallerCertificates;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.http.forwarding.CallerFields;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Admission;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.Verdict;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Admits callers with a client certificate from the TLS handshake. Chains are verified off the event loops,
 * and results are cached. The handshake has proven that the caller has the key.
 */
final class CertificateAdmission implements Admission {
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Requirement.ClientCertificate rule;
    private final CallerCertificates trusted;
    private final Verifications verifications;

    CertificateAdmission(Requirement.ClientCertificate rule, Verifications verifications) {
        this.rule = rule;
        this.trusted = new CallerCertificates(rule.authorities());
        this.verifications = verifications;
    }

    /**
     * A certificate verified against the authorities of the rule.
     *
     * @param subject its subject in the form of RFC 2253
     * @param expires when it expires
     */
    record Verified(String subject, String fingerprint, Instant expires) {}

    @Override
    public Runnable admit(RelayRequest request, Verdict verdict) {
        SSLEngine tls = request.caller().tls();
        List<X509Certificate> chain = tls == null ? List.of() : ClientCertificates.shown(tls.getSession());
        if (chain.isEmpty()) {
            missing(tls, verdict);
            return DECIDED;
        }
        X509Certificate leaf = chain.getFirst();
        Verifications.Key key;
        try {
            key = Verifications.key(this, leaf.getEncoded());
        } catch (CertificateEncodingException e) {
            verdict.refuse(refusal("the client certificate can't be read"));
            return DECIDED;
        }
        Verified remembered = verifications.certificate(key);
        if (remembered != null && verifications.now().isBefore(remembered.expires())) {
            verdict.pass(fields(remembered));
            return DECIDED;
        }
        Disposable judging = Mono.fromCallable(() -> verify(chain, key))
                .subscribeOn(verifications.scheduler())
                .subscribe(verified -> tell(verified, key, verdict), failed -> refuse(failed, verdict));
        return judging::dispose;
    }

    /**
     * RFC 9110 §15.5.20: with HTTP/2, requests for this host may arrive on a connection to another host,
     * which requests no certificate.
     */
    private void missing(@Nullable SSLEngine tls, Verdict verdict) {
        if (tls != null && !tls.getWantClientAuth()) {
            verdict.answer(new DefaultHttp2Headers(false, 2).status("421"), new byte[0]);
        } else {
            verdict.refuse(refusal("a client certificate is needed"));
        }
    }

    private Verified verify(List<X509Certificate> chain, Verifications.Key key) {
        trusted.verify(chain, verifications.now());
        X509Certificate leaf = chain.getFirst();
        String subject = leaf.getSubjectX500Principal().getName(X500Principal.RFC2253);
        if (!rule.subjects().isEmpty() && !rule.subjects().contains(subject)) {
            throw new CertsException("the client certificate's subject is not among those that may pass");
        }
        return new Verified(subject, HexFormat.of().formatHex(key.hash().array()),
                leaf.getNotAfter().toInstant());
    }

    private void tell(Verified verified, Verifications.Key key, Verdict verdict) {
        verifications.remember(key, verified);
        verdict.pass(fields(verified));
    }

    private static void refuse(Throwable failed, Verdict verdict) {
        verdict.refuse(failed instanceof CertsException
                ? refusal(String.valueOf(failed.getMessage()))
                : Verifications.undecided(failed, "the client certificate can't be verified now", RETRY));
    }

    private static Problem refusal(String detail) {
        return Problem.of(Cause.NOT_ALLOWED, Hop.EDGE, detail);
    }

    private static Http2Headers fields(Verified verified) {
        return new DefaultHttp2Headers(false, 2)
                .set(CallerFields.SUBJECT, SubjectText.of(verified.subject()))
                .set(CallerFields.CERTIFICATE, verified.fingerprint());
    }
}

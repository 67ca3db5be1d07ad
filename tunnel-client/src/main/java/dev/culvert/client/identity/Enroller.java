package dev.culvert.client.identity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientCertificates.Verdict;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.KeyPin;
import dev.culvert.certs.Pem;
import dev.culvert.certs.VouchedAuthorities;
import java.net.URI;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The client's side of one enrolment at one server (docs/enrolment.md). Requests a nonce, proves knowledge of
 * the token, and accepts the response only if it proves knowledge of the token too.
 */
final class Enroller {
    private final EnrolmentHttp http;
    private final EnrolmentToken token;
    private final CertificateRequest request;

    /** @param request the certificate request for the client's key */
    Enroller(EnrolmentHttp http, EnrolmentToken token, CertificateRequest request) {
        this.http = http;
        this.token = token;
        this.request = request;
    }

    /**
     * The verified results of the server.
     *
     * @param certificate the certificate for the client's own key
     * @param authorities the authorities whose servers are trusted from now on: the issuer, which has the
     *     token's pin, and those that it has signed
     * @param identity the identity in the certificate
     * @param host the runtime's host, for people
     * @param url the runtime's public URL, for people; null if the server names none
     */
    record Enrolled(X509Certificate certificate, List<X509Certificate> authorities, ClientIdentity identity,
            String host, @Nullable URI url) {}

    /**
     * Enrols. If the second step is refused, retries once from the first, because the server may have
     * restarted and lost the nonce. Cancelling stops the enrolment; the same key may be used again. Errors:
     * {@link EnrolmentException}. Never empty.
     */
    Mono<Enrolled> enrol() {
        return http.withNonce(Map.of("token", token.id()), EnrolmentProof.BYTES, this::certificate);
    }

    private Mono<Enrolled> certificate(byte[] nonce) {
        return Mono.defer(() -> {
            byte[] proof = EnrolmentProof.request(token.secretHash(), nonce, request.encoded());
            Map<String, String> document = Map.of("token", token.id(), "nonce", Base64Url.encode(nonce),
                    "csr",
                    request.pem(), "proof", Base64Url.encode(proof));
            return http.post(document, 201).map(answer -> verified(answer, nonce));
        });
    }

    private Enrolled verified(JsonNode answer, byte[] nonce) {
        X509Certificate certificate = certificate(answer, "certificate");
        X509Certificate ca = certificate(answer, "ca");
        byte[] expected = EnrolmentProof.response(token.secretHash(), nonce, der(certificate), der(ca));
        if (!EnrolmentProof.matches(expected, http.bytes(answer, "proof", EnrolmentProof.BYTES))) {
            throw http.strange("the answer does not prove the token: something on the way changed it");
        }
        if (!KeyPin.of(ca).equals(token.caPin())) {
            // The server knows the secret, so the token itself was changed.
            throw http.refused("the server's authority is not the one that the token pins; make a new token"
                    + " with: culvert runtime enrol-token ACCOUNT NAME");
        }
        if (!certificate.getPublicKey().equals(request.publicKey())) {
            throw http.strange("the certificate is for another key");
        }
        // Verified at the start of its validity, so that a wrong local clock does not waste the one-time
        // token.
        Verdict verdict = ClientCertificates.verify(List.of(certificate), List.of(ca),
                certificate.getNotBefore().toInstant());
        return switch (verdict) {
            case Verdict.Valid valid -> enrolled(answer, certificate, ca, valid.identity());
            case Verdict.Untrusted untrusted -> throw http.strange(untrusted.reason());
            case Verdict.Expired expired ->
                throw http.strange("a certificate that ended at " + expired.since());
            case Verdict.Missing missing -> throw http.strange("no certificate");
        };
    }

    private Enrolled enrolled(JsonNode answer, X509Certificate certificate, X509Certificate ca,
            ClientIdentity identity) {
        if (!identity.account().equals(http.text(answer, "account"))
                || !identity.runtime().equals(http.text(answer, "runtime"))) {
            throw http.strange("the certificate is for another runtime than the answer says");
        }
        String host = http.text(answer, "host");
        return new Enrolled(certificate, authorities(answer, certificate, ca), identity, host,
                EnrolmentHttp.publicUrl(answer, host));
    }

    /** Reads the authorities. Servers without rotation send none. */
    private List<X509Certificate> authorities(JsonNode answer, X509Certificate certificate,
            X509Certificate ca) {
        if (!answer.has("authorities")) {
            return List.of(ca);
        }
        return http.decoded("authorities: ", () -> VouchedAuthorities
                .parse(http.text(answer, "authorities"), http.text(answer, "authoritiesProof"))
                .verified(certificate, List.of(ca)));
    }

    private X509Certificate certificate(JsonNode answer, String member) {
        List<X509Certificate> certificates = http.decoded(member + ": ",
                () -> Pem.certificates(http.text(answer, member)));
        if (certificates.size() != 1) {
            throw http.strange(member + ": several certificates (expected: one)");
        }
        return certificates.getFirst();
    }

    private static byte[] der(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new CertsException("a certificate that has no encoding", e);
        }
    }
}

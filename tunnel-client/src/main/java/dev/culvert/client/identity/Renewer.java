package dev.culvert.client.identity;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.KeyProof;
import dev.culvert.certs.Pem;
import dev.culvert.certs.VouchedAuthorities;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The client's side of one renewal at one server (docs/enrolment.md). Requests a nonce, proves the present
 * key, and accepts the response only if it is for the new key and the same runtime.
 */
final class Renewer {
    private final EnrolmentHttp http;
    private final Identity present;
    private final CertificateRequest request;

    /** @param request the certificate request for the client's new key */
    Renewer(EnrolmentHttp http, Identity present, CertificateRequest request) {
        this.http = http;
        this.present = present;
        this.request = request;
    }

    /**
     * The results of the server.
     *
     * @param certificate the certificate for the new key and the same runtime
     * @param authorities the authorities that the server sent, not verified yet, or null
     * @param url the runtime's public URL, for people; null if the server names none
     */
    record Renewed(X509Certificate certificate, @Nullable VouchedAuthorities authorities,
            @Nullable URI url) {}

    /** Obtains the new certificate. Errors: {@link EnrolmentException}. Never empty. */
    Mono<Renewed> renew() {
        return http.withNonce(Map.of("certificate", Pem.text(present.material().leaf())),
                EnrolmentProof.NONCE_BYTES, this::certificate);
    }

    private Mono<Renewed> certificate(byte[] nonce) {
        return Mono.defer(() -> {
            byte[] proof = KeyProof.renewal(nonce, request.encoded()).sign(present.material().key());
            return http.post(Map.of("certificate", Pem.text(present.material().leaf()), "nonce",
                    Base64Url.encode(nonce), "csr", request.pem(), "proof", Base64Url.encode(proof)), 201);
        })
                .map(answer -> http.decoded("", () -> new Renewed(
                        verified(Pem.certificates(http.text(answer, "certificate"))),
                        answer.has("authorities")
                                ? VouchedAuthorities.parse(http.text(answer, "authorities"),
                                        http.text(answer, "authoritiesProof"))
                                : null,
                        EnrolmentHttp.publicUrl(answer, answer.path("host").asText()))));
    }

    private X509Certificate verified(List<X509Certificate> answered) {
        if (answered.size() != 1) {
            throw http.strange("several certificates (expected: one)");
        }
        X509Certificate certificate = answered.getFirst();
        if (!certificate.getPublicKey().equals(request.publicKey())) {
            throw http.strange("the certificate is for another key");
        }
        if (!ClientIdentity.from(certificate).equals(present.client())) {
            throw http.strange("the certificate is another runtime's");
        }
        return certificate;
    }
}

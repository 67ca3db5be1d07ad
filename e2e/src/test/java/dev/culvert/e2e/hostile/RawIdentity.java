package dev.culvert.e2e.hostile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyProof;
import dev.culvert.certs.Pem;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.Map;

/** Enrols and renews by hand (docs/enrolment.md), as a valid tenant, without the checks that an honest client makes. */
final class RawIdentity {
    private static final JsonMapper JSON = new JsonMapper();

    private RawIdentity() {}

    /** Creates and enrols a runtime, and keeps its certificate in the target's folder; the next call reads it from there. */
    static synchronized TlsMaterial of(Target target, String source, String account, String name)
            throws IOException {
        Path certificate = target.folder().resolve(account + "-" + name + ".crt");
        Path key = target.folder().resolve(account + "-" + name + ".key");
        if (!Files.exists(certificate)) {
            EnrolmentToken token = EnrolmentToken.parse(Files.readString(created(target, account, name)));
            enrol(target, source, token).writeTo(certificate, key);
        }
        return TlsMaterial.load(certificate, key);
    }

    private static Path created(Target target, String account, String name) throws IOException {
        try {
            return target.createRuntime(account, name);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static TlsMaterial enrol(Target target, String source, EnrolmentToken token) throws IOException {
        KeyPair keys = KeyPairs.generate();
        CertificateRequest request = CertificateRequest.create(keys);
        Answer nonce = post(target, source, "enrol", Map.of("token", token.id()));
        byte[] proof = EnrolmentProof.request(token.secretHash(), nonce.nonce(), request.encoded());
        Answer answer = post(target, source, "enrol", Map.of("token", token.id(), "nonce",
                nonce.text("nonce"), "csr", request.pem(), "proof", Base64Url.encode(proof)));
        return answer.certifying(keys);
    }

    /** Renews a certificate to a new key. Throws IOException with the server's answer when that refuses. */
    static TlsMaterial renew(Target target, String source, TlsMaterial present) throws IOException {
        KeyPair keys = KeyPairs.generate();
        CertificateRequest request = CertificateRequest.create(keys);
        String certificate = Pem.text(present.leaf());
        Answer nonce = post(target, source, "renew", Map.of("certificate", certificate));
        byte[] proof = KeyProof.renewal(nonce.nonce(), request.encoded()).sign(present.key());
        return post(target, source, "renew", Map.of("certificate", certificate, "nonce",
                nonce.text("nonce"), "csr", request.pem(), "proof", Base64Url.encode(proof)))
                .certifying(keys);
    }

    private static Answer post(Target target, String source, String path, Map<String, String> document)
            throws IOException {
        byte[] body = JSON.writeValueAsBytes(document);
        try (RawHttp1 caller = RawHttp1.connect(target.tunnel(), source, "localhost")) {
            caller.lines("POST /tunnel/v1/" + path + " HTTP/1.1", "Host: localhost",
                    "Content-Type: application/json", "Content-Length: " + body.length, "").write(body);
            String head = caller.head();
            int length = RawHttp1.length(head);
            String text = new String(
                    length > 0 ? caller.in().readNBytes(length) : caller.in().readAllBytes(),
                    StandardCharsets.UTF_8);
            if (!head.startsWith("HTTP/1.1 20")) {
                throw new IOException(head.lines().findFirst().orElse("") + " " + text);
            }
            return new Answer(JSON.readTree(text.substring(text.indexOf('{'), text.lastIndexOf('}') + 1)));
        }
    }

    private record Answer(JsonNode json) {
        String text(String member) {
            return json.path(member).asText();
        }

        byte[] nonce() {
            return Base64Url.decode("nonce", text("nonce"), EnrolmentProof.NONCE_BYTES);
        }

        TlsMaterial certifying(KeyPair keys) {
            return new TlsMaterial(Pem.certificates(text("certificate")), keys.getPrivate());
        }
    }
}

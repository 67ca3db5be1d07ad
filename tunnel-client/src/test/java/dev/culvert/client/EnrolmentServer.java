package dev.culvert.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.Pem;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * The server's side of docs/enrolment.md for one token, over real TLS, with a say over what it answers. What it keeps
 * belongs to its event loop until a test reads it after an answer.
 */
public final class EnrolmentServer implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private final CertificateAuthority ca;
    private final EnrolmentToken token;
    private final Set<String> nonces = new HashSet<>();
    private final Deque<Answer> scripted = new ArrayDeque<>();
    private final DisposableServer listener;
    private UnaryOperator<Map<String, String>> change = answer -> answer;
    private byte @Nullable [] usedBy;
    private int requests;

    /** An answer instead of the real one. */
    public record Answer(int status, String type, String body, String retryAfter) {
        public static Answer problem(int status, String detail) {
            String body = "{\"type\":\"urn:culvert:problem:x\",\"status\":" + status + ",\"detail\":\""
                    + detail + "\"}";
            return new Answer(status, "application/problem+json", body, "");
        }
    }

    public EnrolmentServer(CertificateAuthority ca, EnrolmentToken token) {
        this(ca, token, ca.issueServer(List.of("localhost"), List.of(InetAddress.ofLiteral("127.0.0.1")),
                Duration.ofDays(1)));
    }

    public EnrolmentServer(CertificateAuthority ca, EnrolmentToken token, TlsMaterial material) {
        this.ca = ca;
        this.token = token;
        var tls = TlsContexts.tunnel(material, List.of(ca.certificate()), List.of("http/1.1"));
        this.listener = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .secure(spec -> spec.sslContext(tls))
                .route(routes -> routes.post("/tunnel/v1/enrol", this::answer))
                .bindNow();
    }

    public static CertificateAuthority authority() {
        return CertificateAuthority.create("Culvert test CA", Clock.systemUTC());
    }

    /** The address for a client's configuration, without the implied path. */
    public URI address() {
        return URI.create("wss://127.0.0.1:" + listener.port());
    }

    /** Answers the next requests like this, one each, before answering for real. */
    public void script(Answer... answers) {
        scripted.addAll(List.of(answers));
    }

    /** Changes every answer of the second step. */
    public void changing(UnaryOperator<Map<String, String>> with) {
        change = with;
    }

    void forgetNonces() {
        nonces.clear();
    }

    public int requests() {
        return requests;
    }

    /** The response proof for changed certificates, as only the holder of the token can make it. */
    String proof(String nonce, String certificatePem, String caPem) {
        return Base64Url
                .encode(EnrolmentProof.response(token.secretHash(), Base64Url.decode("nonce", nonce, 32),
                        der(Pem.certificates(certificatePem).get(0)), der(Pem.certificates(caPem).get(0))));
    }

    @Override
    public void close() {
        listener.disposeNow();
    }

    private Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        requests++;
        Answer next = scripted.poll();
        return request.receive().aggregate().asString().flatMap(body -> {
            Answer answer = next != null ? next : real(body);
            if (!answer.retryAfter().isEmpty()) {
                response.header(HttpHeaderNames.RETRY_AFTER, answer.retryAfter());
            }
            return response.status(answer.status())
                    .header(HttpHeaderNames.CONTENT_TYPE, answer.type())
                    .sendString(Mono.just(answer.body()))
                    .then();
        });
    }

    private Answer real(String body) {
        try {
            JsonNode document = JSON.readTree(body);
            if (!document.path("token").asText().equals(token.id())) {
                return Answer.problem(401, "unknown token");
            }
            return document.has("csr") ? issue(document) : nonce();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Answer nonce() throws IOException {
        byte[] nonce = new byte[32];
        new SecureRandom().nextBytes(nonce);
        nonces.add(Base64Url.encode(nonce));
        return json(200, Map.of("nonce", Base64Url.encode(nonce)));
    }

    private Answer issue(JsonNode document) throws IOException {
        String nonce = document.path("nonce").asText();
        CertificateRequest csr = CertificateRequest.parse(document.path("csr").asText());
        byte[] expected = EnrolmentProof.request(token.secretHash(), Base64Url.decode("nonce", nonce, 32),
                csr.encoded());
        byte[] proof = Base64Url.decode("proof", document.path("proof").asText(), 32);
        if (!nonces.remove(nonce) || !EnrolmentProof.matches(expected, proof)) {
            return Answer.problem(401, "unknown nonce or wrong proof");
        }
        byte[] key = csr.publicKey().getEncoded();
        if (usedBy != null && !Arrays.equals(usedBy, key)) {
            return Answer.problem(401, "the token was used before");
        }
        usedBy = key;
        var identity = new ClientIdentity("acme", "prod", "id-1");
        String certificate = Pem.text(ca.issueClient(csr, identity, Duration.ofHours(24)));
        String authority = Pem.text(ca.certificate());
        Map<String, String> answer = new LinkedHashMap<>(
                Map.of("certificate", certificate, "ca", authority, "account",
                        "acme", "runtime", "prod", "host", "acme-prod.example.com"));
        answer.put("proof", proof(nonce, certificate, authority));
        answer.put("nonce", nonce);
        return json(201, change.apply(answer));
    }

    private static Answer json(int status, Map<String, String> document) throws IOException {
        return new Answer(status, "application/json", JSON.writeValueAsString(document), "");
    }

    private static byte[] der(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }
}

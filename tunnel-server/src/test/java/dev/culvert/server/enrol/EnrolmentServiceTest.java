package dev.culvert.server.enrol;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientCertificates.Verdict;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.Pem;
import dev.culvert.certs.Sha256;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.runtime.EnrolmentCredential;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeOrigin;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;

class EnrolmentServiceTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final InetSocketAddress REMOTE = new InetSocketAddress(InetAddress.getLoopbackAddress(),
            4711);
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final CertificateRequest request = CertificateRequest.create(keys());
    private RuntimeStore store;
    private RuntimeRegistrar registrar;
    private EnrolmentService service;
    private EnrolmentToken token;
    private RegisteredRuntime runtime;
    private final List<String> enrolled = new CopyOnWriteArrayList<>();

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        registrar = new RuntimeRegistrar(store, new FakeTunnels(), new EnrolmentTokens(ca.certificate()),
                "t.example",
                clock, gone -> {});
        service = new EnrolmentService(store, new CertificateIssuer(ca, Duration.ofDays(1)), clock,
                (name, remote) -> enrolled.add(name + " from " + remote.getPort()));
        RuntimeRegistrar.Registration made = await(registrar.register(PROD, List.of()));
        runtime = made.runtime();
        token = EnrolmentToken.parse(made.token().text());
    }

    @AfterEach
    void close() {
        service.close().block();
        store.close().block();
    }

    @Test
    void provenTokenIsAnsweredWithACertificateForTheRequestsKey() throws Exception {
        byte[] nonce = nonce(token.id());

        EnrolmentAnswer answer = prove(token, nonce, request);

        JsonNode json = json(answer);
        assertThat(answer.status()).isEqualTo(201);
        assertThat(enrolled).containsExactly("acme/prod from 4711");
        X509Certificate certificate = Pem.certificates(json.path("certificate").asText()).getFirst();
        assertThat(certificate.getPublicKey()).isEqualTo(request.publicKey());
        assertThat(
                ClientCertificates.verify(List.of(certificate), List.of(ca.certificate()), clock.instant()))
                .isEqualTo(new Verdict.Valid(new ClientIdentity("acme", "prod", runtime.identity())));
        assertThat(certificate.getNotAfter().toInstant()).isEqualTo(clock.instant().plus(Duration.ofDays(1)));
        assertThat(Pem.certificates(json.path("ca").asText())).containsExactly(ca.certificate());
        assertThat(json.path("account").asText()).isEqualTo("acme");
        assertThat(json.path("runtime").asText()).isEqualTo("prod");
        assertThat(json.path("host").asText()).isEqualTo("acme-prod.t.example");
        assertThat(Base64Url.decode("proof", json.path("proof").asText(), EnrolmentProof.BYTES))
                .isEqualTo(EnrolmentProof.response(token.secretHash(), nonce, certificate.getEncoded(),
                        ca.certificate().getEncoded()));
    }

    @Test
    void aTokenOfAnotherPartEnrolsByTheSameProof() {
        EnrolmentToken theirs = EnrolmentToken.generate(ca.certificate());
        Instant expires = clock.instant().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.MILLIS);
        var name = new RuntimeName("acme", "other");
        await(registrar.provide(name, List.of(),
                EnrolmentCredential.of(theirs.id(), Base64Url.encode(theirs.secretHash()), expires),
                new RuntimeOrigin("plane", Sha256.of(new byte[0]))));

        JsonNode enrolled = json(prove(theirs, nonce(theirs.id()), request));

        assertThat(enrolled.path("runtime").asText()).isEqualTo("other");
        clock.advance(Duration.ofHours(1));
        assertThat(prove(theirs, nonce(theirs.id()), request).status()).isEqualTo(401);
    }

    /** The next server may know what is unknown here, so a client must not take a refusal as final. */
    @Test
    void nothingIsRefusedForGoodOnceTheDatabaseIsReleased() {
        byte[] nonce = nonce(token.id());
        EnrolmentToken stranger = EnrolmentToken.generate(ca.certificate());
        byte[] unspent = nonce(stranger.id());
        store.release().block();

        for (EnrolmentAnswer answer : List.of(prove(token, nonce, request),
                prove(stranger, unspent, request), prove(token, unspent, request))) {
            assertThat(answer.status()).isEqualTo(503);
            assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains(":draining\"");
        }
    }

    @Test
    void unknownTokenIsToldApartOnlyByItsProof() {
        EnrolmentToken stranger = EnrolmentToken.generate(ca.certificate());

        EnrolmentAnswer unknown = prove(stranger, nonce(stranger.id()), request);
        EnrolmentAnswer wrongProof = send(
                Map.of("token", token.id(), "nonce", Base64Url.encode(nonce(token.id())),
                        "csr", request.pem(), "proof", Base64Url.encode(new byte[EnrolmentProof.BYTES])));

        assertProblem(unknown, 401, "unauthorized", "enrol-token");
        assertThat(new String(wrongProof.body(), StandardCharsets.UTF_8))
                .isEqualTo(new String(unknown.body(), StandardCharsets.UTF_8));
    }

    @Test
    void wrongProofNeitherUsesTheTokenNorTheNonce() {
        byte[] nonce = nonce(token.id());
        send(Map.of("token", token.id(), "nonce", Base64Url.encode(nonce), "csr", request.pem(), "proof",
                Base64Url.encode(new byte[EnrolmentProof.BYTES])));

        assertThat(prove(token, nonce, request).status()).isEqualTo(201);
    }

    @Test
    void proofForAnotherRequestIsRefused() {
        byte[] nonce = nonce(token.id());
        CertificateRequest other = CertificateRequest.create(keys());

        EnrolmentAnswer answer = send(Map.of("token", token.id(), "nonce", Base64Url.encode(nonce), "csr",
                other.pem(), "proof",
                Base64Url.encode(EnrolmentProof.request(token.secretHash(), nonce, request.encoded()))));

        assertProblem(answer, 401, "unauthorized", "proof");
    }

    @Test
    void tokenServesTheSameKeyTheSameCertificateAgainAndNoOther() {
        String first = json(prove(token, nonce(token.id()), request)).path("certificate").asText();

        assertThat(first).startsWith("-----BEGIN CERTIFICATE");
        assertThat(json(prove(token, nonce(token.id()), request)).path("certificate").asText())
                .isEqualTo(first);
        assertProblem(prove(token, nonce(token.id()), CertificateRequest.create(keys())), 401, "unauthorized",
                "another key");
    }

    @Test
    void tokenOfTwoKeysAtTheSameTimeServesOne() {
        List<EnrolmentAnswer> answers = await(Flux.range(0, 8)
                .flatMap(i -> service.enrol(
                        proof(token, nonce(token.id()), CertificateRequest.create(keys())), "r",
                        REMOTE))
                .collectList());

        assertThat(answers).extracting(EnrolmentAnswer::status).containsOnlyOnce(201).contains(401);
    }

    @Test
    void useOfATokenSurvivesARestart() {
        prove(token, nonce(token.id()), request);
        store.close().block();
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        service.close().block();
        service = new EnrolmentService(store, new CertificateIssuer(ca, Duration.ofDays(1)), clock);

        assertProblem(prove(token, nonce(token.id()), CertificateRequest.create(keys())), 401, "unauthorized",
                "another key");
    }

    @Test
    void expiredTokenIsRefusedAlsoForItsOwnKey() {
        prove(token, nonce(token.id()), request);
        clock.advance(Duration.ofMinutes(59));
        assertThat(prove(token, nonce(token.id()), request).status()).isEqualTo(201);
        clock.advance(Duration.ofMinutes(1));

        assertProblem(prove(token, nonce(token.id()), request), 401, "unauthorized", "expired");
    }

    @Test
    void tokenOfADeletedRuntimeIsUnknown() {
        registrar.delete(PROD).block();

        assertProblem(prove(token, nonce(token.id()), request), 401, "unauthorized", "unknown");
    }

    @Test
    void nonceWorksOnce() {
        byte[] nonce = nonce(token.id());
        prove(token, nonce, request);

        EnrolmentAnswer again = prove(token, nonce, request);

        assertProblem(again, 409, "conflict", "nonce");
        assertThat(again.fields()).anySatisfy(field -> assertThat(field.name()).isEqualTo("retry-after"));
    }

    @Test
    void nonceEndsAfterAMinute() {
        byte[] nonce = nonce(token.id());
        clock.advance(Duration.ofSeconds(60));

        assertProblem(prove(token, nonce, request), 409, "conflict", "nonce");
    }

    @Test
    void nonceOfAnotherTokenOrOfNobodyIsRefused() {
        assertProblem(prove(token, nonce("another"), request), 409, "conflict", "nonce");
        assertProblem(prove(token, new byte[EnrolmentProof.NONCE_BYTES], request), 409, "conflict", "nonce");
    }

    @Test
    void spentNoncesAreBounded() {
        var nonces = new EnrolmentNonces(clock, 10);

        for (int i = 0; i < 1000; i++) {
            assertThat(nonces.spend(nonces.issue("id"))).isTrue();
        }

        assertThat(nonces.remembered()).isLessThanOrEqualTo(10);
        clock.advance(Duration.ofSeconds(61));
        assertThat(nonces.remembered()).isZero();
    }

    @Test
    void moreWaitingRequestsThanTheLimitAreRefusedForNow() {
        service.close().block();
        service = new EnrolmentService(store, new CertificateIssuer(ca, Duration.ofDays(1)), clock, 2,
                (name, remote) -> {});
        byte[] ask = bytes("{\"token\":\"" + token.id() + "\"}");

        List<EnrolmentAnswer> answers = await(
                Flux.range(0, 500).flatMap(i -> service.enrol(ask, "r", REMOTE), 500).collectList());

        assertThat(answers).hasSize(500)
                .extracting(EnrolmentAnswer::status)
                .contains(200, 503)
                .containsOnly(200, 503);
    }

    @Test
    void bodyAboveTheLimitIsRefused() {
        byte[] body = bytes(
                "{\"token\":\"x\",\"more\":\"" + "m".repeat(EnrolmentService.MAX_BODY_BYTES) + "\"}");

        assertProblem(await(service.enrol(body, "r", REMOTE)), 413, "body-too-large", "16384");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"'' | JSON", "[] | object", "{} | token", "{\"token\":1} | token",
            "{\"token\":\"\"} | token",
            "{\"token\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"} | token",
            "{\"token\":\"x\",\"nonce\":\"y\"} | csr",
            "{\"token\":\"x\",\"nonce\":\"y\",\"csr\":\"c\"} | proof",
            "{\"token\":\"x\",\"nonce\":\"y\",\"csr\":\"c\",\"proof\":\"p\"} | nonce"})
    void bodyThatCantBeReadIsRefusedByField(String body, String field) {
        assertProblem(await(service.enrol(bytes(body), "r", REMOTE)), 400, "bad-request", field);
    }

    @Test
    void requestThatCantBeReadIsRefusedWithoutUseOfTheToken() {
        byte[] nonce = nonce(token.id());

        EnrolmentAnswer answer = send(Map.of("token", token.id(), "nonce", Base64Url.encode(nonce), "csr",
                "no csr",
                "proof", Base64Url.encode(EnrolmentProof.request(token.secretHash(), nonce, new byte[0]))));

        assertProblem(answer, 400, "bad-request", "certificate request");
        assertThat(prove(token, nonce, request).status()).isEqualTo(201);
    }

    @Test
    void fieldsOfNewerClientsAreIgnored() {
        assertThat(await(service.enrol(bytes("{\"token\":\"x\",\"color\":\"red\"}"), "r", REMOTE)).status())
                .isEqualTo(200);
    }

    @Test
    void answersShowNoSecret() {
        String nonce = Base64Url.encode(nonce(token.id()));
        String refusal = new String(prove(token, nonce("another"), request).body(), StandardCharsets.UTF_8);
        String secret = token.text().split("\\.", -1)[2];

        assertThat(refusal).doesNotContain(secret, nonce, Base64Url.encode(token.secretHash()));
        assertThat(String.valueOf(store.token(token.id()))).contains(token.id())
                .doesNotContain(Base64Url.encode(token.secretHash()));
    }

    private byte[] nonce(String tokenId) {
        EnrolmentAnswer answer = send(Map.of("token", tokenId));
        assertThat(answer.status()).isEqualTo(200);
        return Base64Url.decode("nonce", json(answer).path("nonce").asText(), EnrolmentProof.NONCE_BYTES);
    }

    private EnrolmentAnswer prove(EnrolmentToken shown, byte[] nonce, CertificateRequest csr) {
        return await(service.enrol(proof(shown, nonce, csr), "r", REMOTE));
    }

    private static byte[] proof(EnrolmentToken shown, byte[] nonce, CertificateRequest csr) {
        return body(Map.of("token", shown.id(), "nonce", Base64Url.encode(nonce), "csr", csr.pem(), "proof",
                Base64Url.encode(EnrolmentProof.request(shown.secretHash(), nonce, csr.encoded()))));
    }

    private EnrolmentAnswer send(Map<String, String> members) {
        return await(service.enrol(body(members), "r", REMOTE));
    }

    private static byte[] body(Map<String, String> members) {
        try {
            return JSON.writeValueAsBytes(new TreeMap<>(members));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode json(EnrolmentAnswer answer) {
        try {
            return JSON.readTree(answer.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertProblem(EnrolmentAnswer answer, int status, String cause, String detail) {
        assertThat(answer.status()).as(json(answer).toString()).isEqualTo(status);
        assertThat(json(answer).path("type").asText()).isEqualTo("urn:culvert:problem:" + cause);
        assertThat(json(answer).path("detail").asText()).contains(detail);
        assertThat(json(answer).path("requestId").asText()).isEqualTo("r");
    }

    private static KeyPair keys() {
        try {
            var generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            return generator.generateKeyPair();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

package dev.culvert.server.enrol;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyProof;
import dev.culvert.certs.Pem;
import dev.culvert.certs.Sha256;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.protocol.frame.Hello.Nonce;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRenewals;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;

class RenewalServiceTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final InetSocketAddress REMOTE = new InetSocketAddress(InetAddress.getLoopbackAddress(),
            4711);
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final Duration LIFE = Duration.ofDays(1);

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final KeyPair oldKeys = KeyPairs.generate();
    private final KeyPair newKeys = KeyPairs.generate();
    private final CertificateRequest request = CertificateRequest.create(newKeys);
    private RuntimeStore store;
    private RuntimeRegistrar registrar;
    private RenewalService service;
    private RegisteredRuntime runtime;
    private X509Certificate certificate;

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        registrar = new RuntimeRegistrar(store, new FakeTunnels(), new EnrolmentTokens(ca.certificate()),
                "t.example",
                clock, gone -> {});
        service = new RenewalService(store, new CertificateIssuer(ca, LIFE), clock);
        runtime = await(registrar.register(PROD, List.of())).runtime();
        certificate = issued(ca, oldKeys, runtime.identity());
    }

    @AfterEach
    void close() {
        service.close().block();
        store.close().block();
    }

    private static X509Certificate issued(CertificateAuthority by, KeyPair keys, String runtimeId) {
        return by.issueClient(CertificateRequest.create(keys), new ClientIdentity("acme", "prod", runtimeId),
                LIFE);
    }

    @Test
    void theOldKeyGetsACertificateForTheNewOne() {
        clock.advance(Duration.ofHours(16));

        EnrolmentAnswer answer = renew(certificate, nonce(certificate), oldKeys);

        assertThat(answer.status()).isEqualTo(201);
        X509Certificate next = Pem.certificates(json(answer).path("certificate").asText()).getFirst();
        assertThat(next.getPublicKey()).isEqualTo(newKeys.getPublic());
        assertThat(ClientIdentity.from(next)).isEqualTo(ClientIdentity.from(certificate));
        assertThat(next.getNotAfter().toInstant()).isEqualTo(clock.instant().plus(LIFE));
    }

    @Test
    void aCertificateThatHasEndedIsRenewedForThirtyDays() {
        clock.advance(LIFE.plus(RenewalService.GRACE).minusSeconds(60));

        assertThat(renew(certificate, nonce(certificate), oldKeys).status()).isEqualTo(201);

        clock.advance(Duration.ofSeconds(61));
        assertProblem(ask(certificate), 401, "more than 30 days ago");
    }

    @Test
    void aProofByAnotherKeyIsRefusedAndDoesNotUseTheNonce() {
        byte[] nonce = nonce(certificate);

        assertProblem(renew(certificate, nonce, newKeys), 401, "proof");
        assertThat(renew(certificate, nonce, oldKeys).status()).isEqualTo(201);
    }

    /** A stolen key would renew itself for ever. */
    @Test
    void aKeyHasOneSuccessor() {
        assertThat(renew(certificate, nonce(certificate), oldKeys).status()).isEqualTo(201);
        clock.advance(Duration.ofHours(1));

        CertificateRequest thief = CertificateRequest.create(KeyPairs.generate());
        assertProblem(renew(certificate, nonce(certificate), oldKeys, thief), 401, "renewed by another key");
        assertThat(service.conflicts()).isOne();
        X509Certificate again = issued(ca, oldKeys, runtime.identity());
        assertProblem(renew(again, nonce(again), oldKeys, thief), 401, "renewed by another key");
        assertThat(renew(certificate, nonce(certificate), oldKeys).status()).isEqualTo(201);
    }

    @Test
    void whatFollowedAKeyOutlivesARestart() {
        renew(certificate, nonce(certificate), oldKeys);
        store.close().block();
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));

        assertThatThrownBy(() -> noted(0, 2)).isInstanceOf(StoreException.Conflict.class);
    }

    /** Notes that number {@code key}, 0 for the old keys, is followed by number {@code successor}, some seconds later each. */
    private void noted(int key, int successor) {
        byte[] replaced = key == 0
                ? oldKeys.getPublic().getEncoded()
                : new byte[]{(byte) (key >> 8), (byte) key};
        store.renewed(runtime.id(), Sha256.of(replaced), Sha256.of(new byte[]{(byte) successor}),
                clock.instant().plus(LIFE).plus(RenewalService.GRACE).plusSeconds(key)).block();
    }

    @Test
    void ofMoreRenewalsThanAreRememberedNoneIsOpen() {
        for (int i = 0; i <= SqliteRenewals.MAX_OF_RUNTIME; i++) {
            noted(i, 1);
        }

        // the first one was forgotten, and what is as old is refused
        assertThatThrownBy(() -> noted(0, 2)).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("older");
        assertThatThrownBy(() -> noted(1, 2)).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("another key");
    }

    @Test
    void aRenewalIsForgottenWhenItsCertificateCanRenewNoMore() {
        noted(1, 1);

        clock.advance(LIFE.plus(RenewalService.GRACE).plusSeconds(2));

        noted(1, 2);
    }

    @Test
    void aNonceWorksOnce() {
        byte[] nonce = nonce(certificate);
        renew(certificate, nonce, oldKeys);

        assertProblem(renew(certificate, nonce, oldKeys), 409, "nonce");
    }

    @Test
    void aNonceIsForItsCertificate() {
        X509Certificate other = issued(ca, oldKeys, runtime.identity());

        assertProblem(renew(other, nonce(certificate), oldKeys), 409, "nonce");
    }

    @Test
    void aStrangersCertificateIsRefused() {
        CertificateAuthority stranger = CertificateAuthority.create("test", clock);

        assertProblem(ask(issued(stranger, oldKeys, runtime.identity())), 401, "not issued by an authority");
    }

    @Test
    void aDeletedRuntimesCertificateIsRefused() {
        await(registrar.delete(PROD));
        await(registrar.register(PROD, List.of()));

        assertProblem(ask(certificate), 401, "deleted");
    }

    @Test
    void aRevokedCertificateIsRefusedAndANewOneIsNot() {
        await(registrar.revoke(PROD));

        assertProblem(ask(certificate), 401, "was revoked");
        String identity = Objects.requireNonNull(store.byName(PROD)).identity();
        assertThat(ask(issued(ca, oldKeys, identity)).status()).isEqualTo(200);
    }

    @Test
    void whatCanNotBeReadIsABadRequest() {
        assertProblem(send(Map.of("certificate", "no PEM")), 400, "");
        assertProblem(send(Map.of()), 400, "certificate");
        assertProblem(
                send(Map.of("certificate", Pem.text(certificate), "nonce", "!", "proof", "AAAA", "csr", "x")),
                400, "nonce");
    }

    @Test
    void aSessionsNewCertificateIsJudged() throws Exception {
        Nonce server = new Nonce(1, 2, 3, 4);
        Nonce client = new Nonce(5, 6, 7, 8);
        X509Certificate next = issued(ca, newKeys, runtime.identity());
        byte[] der = next.getEncoded();
        byte[] proof = KeyProof.session(server.bytes(), client.bytes(), der).sign(newKeys.getPrivate());

        assertThat(service.judge(der, proof, server, client, runtime.id()).block())
                .isEqualTo(next.getNotAfter().toInstant());
        assertRefused(der, proof, client, server, runtime.id(), "proof");
        assertRefused(der, proof, server, client, "another", "another runtime's");
        clock.advance(LIFE.plusSeconds(1));
        assertRefused(der, proof, server, client, runtime.id(), "ended at");
    }

    @Test
    void anOpeningsCertificateIsJudgedAndACapturedProofIsWorthless() throws Exception {
        Nonce server = new Nonce(1, 2, 3, 4);
        Nonce client = new Nonce(5, 6, 7, 8);
        byte[] der = certificate.getEncoded();
        byte[] proof = KeyProof.opening(server.bytes(), client.bytes(), der, "t.example")
                .sign(oldKeys.getPrivate());

        assertThat(service.judgeOpening(der, proof, server, client, "t.example").block())
                .isEqualTo(new RenewalService.Proven(runtime, certificate.getNotAfter().toInstant()));
        // replayed: a session has a server's nonce of its own
        assertNotOpened(der, proof, new Nonce(9, 9, 9, 9), "t.example", "the proof is not by");
        assertNotOpened(der, proof, server, "other.example", "the proof is not by");
        await(registrar.revoke(PROD));
        assertNotOpened(der, proof, server, "t.example", "was revoked");
    }

    @Test
    void strangersWhoAskForCertificatesKeepNoSessionFromBeingJudged() throws Exception {
        Nonce server = new Nonce(1, 2, 3, 4);
        Nonce client = new Nonce(5, 6, 7, 8);
        byte[] der = certificate.getEncoded();
        byte[] proof = KeyProof.session(server.bytes(), client.bytes(), der).sign(oldKeys.getPrivate());
        var full = new RenewalService(store, new CertificateIssuer(ca, LIFE), clock,
                Schedulers.fromExecutor(task -> {
                    throw new RejectedExecutionException("full");
                }), Schedulers.immediate());
        byte[] body = JSON.writeValueAsBytes(Map.of("certificate", Pem.text(certificate)));

        assertThat(full.judge(der, proof, server, client, runtime.id()).block()).isNotNull();
        assertProblem(await(full.renew(body, "request-1", REMOTE)), 503, "");
    }

    private void assertNotOpened(byte[] der, byte[] proof, Nonce server, String host, String reason) {
        assertThatThrownBy(
                () -> service.judgeOpening(der, proof, server, new Nonce(5, 6, 7, 8), host).block())
                .isInstanceOfSatisfying(EdgeException.class,
                        e -> assertThat(e.problem().detail()).contains(reason));
    }

    private void assertRefused(byte[] der, byte[] proof, Nonce server, Nonce client, String runtimeId,
            String reason) {
        assertThatThrownBy(() -> service.judge(der, proof, server, client, runtimeId).block())
                .isInstanceOfSatisfying(EdgeException.class,
                        e -> assertThat(e.problem().detail()).contains(reason));
    }

    private EnrolmentAnswer ask(X509Certificate shown) {
        return send(Map.of("certificate", Pem.text(shown)));
    }

    private byte[] nonce(X509Certificate shown) {
        return Base64Url.decode("nonce", json(ask(shown)).path("nonce").asText(), EnrolmentProof.NONCE_BYTES);
    }

    private EnrolmentAnswer renew(X509Certificate shown, byte[] nonce, KeyPair signer) {
        return renew(shown, nonce, signer, request);
    }

    private EnrolmentAnswer renew(X509Certificate shown, byte[] nonce, KeyPair signer,
            CertificateRequest request) {
        byte[] proof = KeyProof.renewal(nonce, request.encoded()).sign(signer.getPrivate());
        return send(
                Map.of("certificate", Pem.text(shown), "nonce", Base64Url.encode(nonce), "csr", request.pem(),
                        "proof", Base64Url.encode(proof)));
    }

    private EnrolmentAnswer send(Map<String, String> document) {
        try {
            return await(service.renew(JSON.writeValueAsBytes(document), "request-1", REMOTE));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonNode json(EnrolmentAnswer answer) {
        try {
            return JSON.readTree(answer.body());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertProblem(EnrolmentAnswer answer, int status, String detail) {
        assertThat(answer.status()).as("%s", json(answer)).isEqualTo(status);
        assertThat(json(answer).path("detail").asText()).contains(detail);
    }
}

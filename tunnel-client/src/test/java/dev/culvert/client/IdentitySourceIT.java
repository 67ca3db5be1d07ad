package dev.culvert.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.Pem;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.EnrolmentServer.Answer;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Enrolment and the identity folder, against a server on a real socket. */
class IdentitySourceIT {
    private static final EventLoops LOOPS = EventLoops.create(1);
    private static final CertificateAuthority CA = EnrolmentServer.authority();
    private final EnrolmentToken token = EnrolmentToken.generate(CA.certificate());
    private final EnrolmentServer server = new EnrolmentServer(CA, token);
    private Clock clock = Clock.systemUTC();
    @TempDir
    private Path folder;

    @BeforeAll
    static void watchEventLoops() {
        EventLoopWatch.install();
    }

    @AfterEach
    void closeServer() {
        server.close();
    }

    @AfterAll
    static void disposeLoops() {
        LOOPS.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
    }

    @Test
    void tokenBecomesAStoredIdentity() throws IOException {
        Identity identity = obtain(token, server.address());

        assertThat(identity.client()).isEqualTo(new ClientIdentity("acme", "prod", "id-1"));
        assertThat(PemFiles.readCertificates(home("ca.crt"))).containsExactly(CA.certificate());
        assertThat(TlsMaterial.load(home("client.crt"), home("client.key"))).isEqualTo(identity.material());
        assertThat(mode("client.key")).isEqualTo("rw-------");
        assertThat(mode("")).isEqualTo("rwx------");
        assertThat(home("enrolment.key")).doesNotExist();
    }

    @Test
    void usableIdentityWinsOverTheToken() throws IOException {
        Identity enrolled = obtain(token, server.address());
        int requests = server.requests();

        assertThat(obtain(token, server.address())).isEqualTo(enrolled);
        assertThat(obtain(null, server.address())).isEqualTo(enrolled);
        assertThat(server.requests()).isEqualTo(requests);
    }

    @Test
    void enrolledIdentityIsTrustedWithoutTheToken() throws IOException {
        obtain(token, server.address());

        assertThat(obtain(null, server.address()).trust().authorities()).containsExactly(CA.certificate());
    }

    @Test
    void lostAnswerIsFetchedAgainWithTheSameKey() throws IOException {
        server.changing(answer -> Map.of());
        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOf(EnrolmentException.Failed.class);
        server.changing(answer -> answer);

        assertThat(obtain(token, server.address()).client().account()).isEqualTo("acme");
    }

    @Test
    void usedTokenIsRefusedForGood() throws IOException {
        obtain(token, server.address());
        for (String file : List.of("client.key", "client.crt")) {
            Files.delete(home(file));
        }

        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOf(EnrolmentException.Refused.class)
                .hasMessageContaining("the token was used before (401)");
    }

    @Test
    void unknownTokenIsRefusedForGood() {
        assertThatThrownBy(() -> obtain(EnrolmentToken.generate(CA.certificate()), server.address()))
                .isInstanceOf(EnrolmentException.Refused.class)
                .hasMessageContaining("unknown token");
    }

    @Test
    void tokenWithAnotherSecretIsRefusedForGood() {
        EnrolmentToken other = EnrolmentToken.generate(CA.certificate());
        EnrolmentToken forged = EnrolmentToken.parse(other.text().replace(other.id(), token.id()));

        assertThatThrownBy(() -> obtain(forged, server.address()))
                .isInstanceOf(EnrolmentException.Refused.class)
                .hasMessageContaining("wrong proof");
    }

    @Test
    void nonceForgottenByARestartedServerIsAskedForAgain() throws IOException {
        server.script(new Answer(200, "application/json", "{\"nonce\":\"" + "A".repeat(43) + "\"}", ""));

        assertThat(obtain(token, server.address()).client().runtime()).isEqualTo("prod");
        assertThat(server.requests()).isEqualTo(4);
    }

    @Test
    void serverOfAnotherAuthorityIsNeverAsked() {
        EnrolmentToken elsewhere = EnrolmentToken.generate(EnrolmentServer.authority().certificate());

        assertThatThrownBy(() -> obtain(elsewhere, server.address()))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining("issued by CN=Culvert test CA, is not trusted");
        assertThat(server.requests()).isZero();
    }

    @Test
    void serverWithAnotherNameIsNeverAsked() {
        TlsMaterial elsewhere = CA.issueServer(List.of("elsewhere.example"), List.of(), Duration.ofDays(1));
        try (var other = new EnrolmentServer(CA, token, elsewhere)) {
            assertThatThrownBy(() -> obtain(token, other.address()))
                    .isInstanceOf(EnrolmentException.Failed.class)
                    .hasMessageContaining("subject alternative names");
            assertThat(other.requests()).isZero();
        }
    }

    @Test
    void configuredAuthorityReplacesThePin() throws IOException {
        CertificateAuthority proxy = EnrolmentServer.authority();
        Path file = folder.resolve("proxy.crt");
        PemFiles.writeCertificates(file, List.of(proxy.certificate()));
        TlsMaterial inspecting = proxy.issueServer(List.of(), List.of(InetAddress.ofLiteral("127.0.0.1")),
                Duration.ofDays(1));
        try (var behindProxy = new EnrolmentServer(CA, token, inspecting)) {
            Identity identity = source(token, file, behindProxy.address()).identity()
                    .blockOptional()
                    .orElseThrow();

            assertThat(identity.trust().authorities()).containsExactly(proxy.certificate());
        }
        assertThatThrownBy(
                () -> source(token, folder.resolve("absent.crt"), server.address()).identity().block())
                .hasMessageContaining("absent.crt: no such file");
    }

    @Test
    void answerThatDoesNotProveTheTokenIsNotBelieved() {
        assertNotBelieved("does not prove the token", answer -> {
            CertificateAuthority evil = EnrolmentServer.authority();
            answer.put("ca", Pem.text(evil.certificate()));
        });
        assertNotBelieved("does not prove the token", answer -> answer.put("proof", "A".repeat(43)));
    }

    @Test
    void certificateForAnotherKeyIsNotBelieved() {
        assertNotBelieved("for another key", answer -> {
            var stranger = CertificateRequest.create(KeyPairs.generate());
            String certificate = Pem.text(
                    CA.issueClient(stranger, new ClientIdentity("acme", "prod", "id-1"),
                            Duration.ofHours(1)));
            answer.put("certificate", certificate);
            answer.put("proof", server.proof(answer.getOrDefault("nonce", ""), certificate,
                    answer.getOrDefault("ca", "")));
        });
    }

    @Test
    void authorityWithoutThePinIsNotBelieved() {
        assertNotBelieved("not the one that the token pins", answer -> {
            String evil = Pem.text(EnrolmentServer.authority().certificate());
            answer.put("ca", evil);
            answer.put("proof",
                    server.proof(answer.getOrDefault("nonce", ""), answer.getOrDefault("certificate", ""),
                            evil));
        });
    }

    @Test
    void namesThatDoNotFitTheCertificateAreNotBelieved() {
        assertNotBelieved("another runtime", answer -> answer.put("runtime", "other"));
        assertNotBelieved("without host", answer -> answer.remove("host"));
        assertNotBelieved("certificate: ", answer -> answer.put("certificate", "x"));
        assertNotBelieved("proof is malformed", answer -> answer.put("proof", "x"));
    }

    @Test
    void oversizedAnswerIsCutOff() {
        assertNotBelieved("more than 16384 bytes",
                answer -> answer.put("more", "x".repeat(EnrolmentHttp.MAX_ANSWER_BYTES)));
    }

    @Test
    void overloadedServerMayBeAskedLater() {
        server.script(new Answer(503, "application/problem+json",
                "{\"type\":\"urn:culvert:problem:overloaded\",\"detail\":\"later\"}", "7"));

        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOfSatisfying(EnrolmentException.Failed.class,
                        e -> assertThat(e.retryAfter()).isEqualTo(Duration.ofSeconds(7)))
                .hasMessageContaining("later (503)");
    }

    @Test
    void refusalOfSomethingElseOnTheWayIsNotFinal() {
        server.script(new Answer(403, "text/html", "<html>blocked</html>", ""),
                new Answer(404, "application/problem+json", "{\"type\":\"about:blank\"}", ""),
                new Answer(302, "text/plain", "", ""),
                new Answer(200, "text/html", "<html>portal</html>", ""),
                new Answer(200, "application/json", "{}", ""),
                new Answer(200, "application/json", "{} {}", ""));

        for (int i = 0; i < 6; i++) {
            assertThatThrownBy(() -> obtain(token, server.address()))
                    .isInstanceOf(EnrolmentException.Failed.class);
        }
    }

    @Test
    void serversWordsCanNotControlATerminal() {
        server.script(Answer.problem(401, "\\u001b[2Jgone" + "x".repeat(1000)));

        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOf(EnrolmentException.Refused.class)
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())).contains("?[2Jgone")
                        .doesNotContain("\u001b")
                        .hasSizeLessThan(400));
    }

    @Test
    void nextAddressIsTriedWhenOneIsDown() throws IOException {
        assertThat(obtain(token, unused(), server.address()).client().account()).isEqualTo("acme");
    }

    @Test
    void lastFailureIsToldWhenAllAreDown() {
        assertThatThrownBy(() -> obtain(token, unused(), unused()))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining("refused");
    }

    @Test
    void refusalIsNotTakenToTheNextAddress() {
        server.script(Answer.problem(409, "no"));

        assertThatThrownBy(() -> obtain(token, server.address(), server.address()))
                .isInstanceOf(EnrolmentException.Refused.class);
        assertThat(server.requests()).isEqualTo(1);
    }

    @Test
    void neitherIdentityNorTokenNamesTheKey() {
        assertThatThrownBy(() -> obtain(null, server.address())).isInstanceOf(ConfigException.class)
                .hasMessageContaining("enrolmentTokenFile")
                .hasMessageContaining("no identity in");
    }

    @Test
    void fileThatIsNoTokenNamesTheKeyAndQuotesNothing() throws IOException {
        Path file = folder.resolve("token");
        for (String content : List.of("", "hunter2", token.text() + "x", "\u00ff".repeat(2000))) {
            Files.writeString(file, content);
            var source = new IdentitySource(config(file, null, List.of(server.address())), LOOPS, clock);

            assertThatThrownBy(() -> source.identity().block()).isInstanceOf(ConfigException.class)
                    .hasMessageContaining("enrolmentTokenFile")
                    .hasMessageNotContaining("hunter2");
        }
    }

    @Test
    void mismatchedKeyIsSaidOrReplacedByTheToken() throws IOException {
        obtain(token, server.address());
        PemFiles.writeKey(home("client.key"), KeyPairs.generate().getPrivate());

        assertThatThrownBy(() -> obtain(null, server.address())).isInstanceOf(ConfigException.class)
                .hasMessageContaining("client.key: not the key of the certificate in");
        EnrolmentToken second = EnrolmentToken.generate(CA.certificate());
        try (var later = new EnrolmentServer(CA, second)) {
            assertThat(obtain(second, later.address()).client().account()).isEqualTo("acme");
        }
    }

    @Test
    void endedIdentityIsReplacedIfTheTokenAllowsIt() throws IOException {
        Identity old = obtain(token, server.address());
        clock = Clock.offset(Clock.systemUTC(), Duration.ofHours(25));

        assertThat(obtain(null, server.address())).isEqualTo(old);
        assertThat(obtain(token, server.address())).isEqualTo(old);
        EnrolmentToken second = EnrolmentToken.generate(CA.certificate());
        try (var later = new EnrolmentServer(CA, second)) {
            assertThat(obtain(second, later.address())).isNotEqualTo(old);
        }
    }

    @Test
    void folderThatCanNotBeMadeIsNamed() throws IOException {
        Files.writeString(folder.resolve("home"), "a file in the way");

        assertThatThrownBy(() -> obtain(token, server.address())).hasMessageContaining("identityDir");
    }

    private interface Change {
        void to(Map<String, String> answer);
    }

    private void assertNotBelieved(String reason, Change change) {
        server.changing(answer -> {
            Map<String, String> changed = new HashMap<>(answer);
            change.to(changed);
            return changed;
        });

        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining(reason);
        assertThat(home("client.crt")).doesNotExist();
        assertThat(home("client.key")).doesNotExist();
    }

    private Identity obtain(@Nullable EnrolmentToken with, URI... servers) throws IOException {
        return source(with, null, servers).identity().blockOptional().orElseThrow();
    }

    private IdentitySource source(@Nullable EnrolmentToken with, @Nullable Path serverCa, URI... servers)
            throws IOException {
        Path file = with == null ? null : Files.writeString(folder.resolve("token"), with.text() + "\n");
        return new IdentitySource(config(file, serverCa, List.of(servers)), LOOPS, clock);
    }

    private ClientConfig config(@Nullable Path tokenFile, @Nullable Path serverCa, List<URI> servers) {
        return new ClientConfig(servers, serverCa, tokenFile, folder.resolve("home"),
                new ClientConfig.Health(HostPort.parse("127.0.0.1:0")), null, null, null, 2);
    }

    private Path home(String file) {
        return folder.resolve("home").resolve(file);
    }

    private String mode(String file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(home(file)));
    }

    private static URI unused() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return URI.create("wss://127.0.0.1:" + socket.getLocalPort());
        }
    }
}

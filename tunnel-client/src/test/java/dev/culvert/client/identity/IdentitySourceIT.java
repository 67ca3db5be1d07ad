package dev.culvert.client.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.ClientHome;
import dev.culvert.client.EnrolmentServer;
import dev.culvert.client.EnrolmentServer.Answer;
import dev.culvert.config.ConfigException;
import dev.culvert.relay.testing.EventLoopWatch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Enrolment and the identity folder, against a server on a real socket. */
class IdentitySourceIT {
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

    @Test
    void tokenBecomesAStoredIdentity() throws IOException {
        Identity identity = obtain(token, server.address());

        assertThat(identity.client()).isEqualTo(new ClientIdentity("acme", "prod", "id-1"));
        assertThat(PemFiles.readCertificates(home("ca.crt"))).containsExactly(CA.certificate());
        assertThat(TlsMaterial.load(home("client.crt"), home("client.key"))).isEqualTo(identity.material());
        assertThat(mode("client.key")).isEqualTo("rw-------");
        assertThat(mode("")).isEqualTo("rwx------");
        assertThat(home("next.key")).doesNotExist();
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
    void crashBetweenKeyAndCertificateIsMendedByTheSameToken() throws IOException {
        Identity enrolled = obtain(token, server.address());
        PemFiles.writeKey(home("next.key"), enrolled.material().key());
        PemFiles.writeCertificates(home("client.crt"), List.of(CA.issueClient(
                CertificateRequest.create(KeyPairs.generate()), enrolled.client(), Duration.ofHours(1))));

        assertThat(obtain(token, server.address()).material().key()).isEqualTo(enrolled.material().key());
        assertThat(home("next.key")).doesNotExist();
    }

    @Test
    void crashBetweenRenewedCertificateAndItsKeyIsCompleted() throws IOException {
        Identity enrolled = obtain(token, server.address());
        KeyPair next = KeyPairs.generate();
        PemFiles.writeKey(home("next.key"), next.getPrivate());
        PemFiles.writeCertificates(home("client.crt"), List.of(CA.issueClient(
                CertificateRequest.create(next), enrolled.client(), Duration.ofHours(1))));

        assertThat(obtain(null, server.address()).material().key()).isEqualTo(next.getPrivate());
        assertThat(home("next.key")).doesNotExist();
        assertThat(mode("client.key")).isEqualTo("rw-------");
    }

    @Test
    void crashBeforeTheRenewedCertificateLeavesTheOldIdentity() throws IOException {
        Identity enrolled = obtain(token, server.address());
        PemFiles.writeKey(home("next.key"), KeyPairs.generate().getPrivate());

        assertThat(obtain(null, server.address())).isEqualTo(enrolled);
    }

    @Test
    void enrolmentKeyThatCanNotBeReadIsReplaced() throws IOException {
        Files.createDirectories(home(""));
        Files.writeString(home("next.key"), "cut off");

        assertThat(obtain(token, server.address()).client().account()).isEqualTo("acme");
    }

    @Test
    void identityPrintsWithoutItsKey() throws IOException {
        Identity identity = obtain(token, server.address());

        assertThat(identity.toString()).contains("key=***").doesNotContain("PRIVATE");
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
    void configuredAuthorityReplacesThePin() throws IOException {
        CertificateAuthority proxy = EnrolmentServer.authority();
        Path file = folder.resolve("proxy.crt");
        PemFiles.writeCertificates(file, List.of(proxy.certificate()));
        TlsMaterial inspecting = proxy.issueServer(List.of(), List.of(InetAddress.ofLiteral("127.0.0.1")),
                Duration.ofDays(1));
        try (var behindProxy = new EnrolmentServer(CA, token, inspecting)) {
            Identity identity = new ClientHome(folder).source(token, file, clock, behindProxy.address())
                    .identity()
                    .blockOptional()
                    .orElseThrow();

            assertThat(identity.trust().authorities()).containsExactly(proxy.certificate());
        }
        assertThatThrownBy(
                () -> new ClientHome(folder)
                        .source(token, folder.resolve("absent.crt"), clock, server.address())
                        .identity()
                        .block())
                .hasMessageContaining("absent.crt: no such file");
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
            var source = new ClientHome(folder).source(file, null, clock, List.of(server.address()));

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

    private Identity obtain(@Nullable EnrolmentToken with, URI... servers) throws IOException {
        return new ClientHome(folder).source(with, null, clock, servers)
                .identity()
                .blockOptional()
                .orElseThrow();
    }

    private Path home(String file) {
        return new ClientHome(folder).file(file);
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

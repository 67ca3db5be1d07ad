package dev.culvert.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.Pem;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.EnrolmentServer.Answer;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.client.identity.EnrolmentHttp;
import dev.culvert.client.identity.Identity;
import dev.culvert.relay.testing.EventLoopWatch;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers that a client must not believe, and servers that it must not even ask. Real sockets. */
class EnrolmentAnswersIT {
    private static final CertificateAuthority CA = EnrolmentServer.authority();
    private final EnrolmentToken token = EnrolmentToken.generate(CA.certificate());
    private final EnrolmentServer server = new EnrolmentServer(CA, token);
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
    void serverOfAnotherAuthorityIsNeverAsked() {
        EnrolmentToken elsewhere = EnrolmentToken.generate(EnrolmentServer.authority().certificate());

        assertThatThrownBy(() -> obtain(elsewhere, server.address()))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining("issued by CN=Culvert test CA, is not trusted");
        assertThat(server.requests()).isZero();
    }

    @Test
    void portOfOneDigitIsDialled() {
        assertThatThrownBy(() -> obtain(token, URI.create("wss://127.0.0.1:1/tunnel/v1")))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining("refused");
    }

    @Test
    void serverWithAnotherNameIsNeverAsked() {
        TlsMaterial elsewhere = CA.issueServer(List.of("elsewhere.example"), List.of(), Duration.ofDays(1));
        try (var other = new EnrolmentServer(CA, token, elsewhere)) {
            assertThatThrownBy(() -> obtain(token, other.address()))
                    .isInstanceOf(EnrolmentException.Failed.class)
                    .hasMessageContaining("but for elsewhere.example (expected: ");
            assertThat(other.requests()).isZero();
        }
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

    /** The server knows the secret: it is the pin that somebody changed. */
    @Test
    void authorityWithoutThePinIsRefusedForGood() {
        server.changing(genuine -> {
            Map<String, String> answer = new HashMap<>(genuine);
            String evil = Pem.text(EnrolmentServer.authority().certificate());
            answer.put("ca", evil);
            answer.put("proof",
                    server.proof(answer.getOrDefault("nonce", ""), answer.getOrDefault("certificate", ""),
                            evil));
            return answer;
        });

        assertThatThrownBy(() -> obtain(token, server.address()))
                .isInstanceOf(EnrolmentException.Refused.class)
                .hasMessageContaining("not the one that the token pins");
        assertThat(new ClientHome(folder).file("")).doesNotExist();
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
    void nonceForgottenByARestartedServerIsAskedForAgain() throws IOException {
        server.script(new Answer(200, "application/json", "{\"nonce\":\"" + "A".repeat(43) + "\"}", ""));

        assertThat(obtain(token, server.address()).client().runtime()).isEqualTo("prod");
        assertThat(server.requests()).isEqualTo(4);
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

    private Identity obtain(EnrolmentToken with, URI... servers) throws IOException {
        return new ClientHome(folder).source(with, null, Clock.systemUTC(), servers)
                .identity()
                .blockOptional()
                .orElseThrow();
    }

    private Path home(String file) {
        return new ClientHome(folder).file(file);
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.Pem;
import dev.culvert.certs.PemFiles;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Enrolments as an operator sees them: {@code culvert client} as a process, its exit code, its words, and what it leaves behind. */
class EnrolmentRefusedIT {
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");
    private static final int REFUSED_FOR_GOOD = 78;
    private static final String NEW_TOKEN = "make a new token with: culvert runtime enrol-token ";

    @TempDir
    Path folder;

    /** Runs a client that must be refused, and give the reason. */
    private void assertRefused(int port, Path token, Path identityDir, String... reason) throws Exception {
        try (ClientProcess client = ClientProcess.start(port, token, identityDir, NOWHERE)) {
            assertThat(client.exitCode()).as(client.output()).isEqualTo(REFUSED_FOR_GOOD);
            String told = client.output()
                    .lines()
                    .filter(line -> line.startsWith("culvert: "))
                    .reduce("", String::concat);
            assertThat(told).contains(reason).doesNotContain(Files.readString(token).split("\\.", -1)[2]);
            assertThat(client.output()).doesNotContain("\tat ").doesNotContain("\"connected\"");
        }
        assertThat(identityDir).doesNotExist();
    }

    private Path token(String name, String text) throws Exception {
        return Files.writeString(folder.resolve(name), text);
    }

    private static String[] parts(Path token) throws Exception {
        return Files.readString(token).split("\\.", -1);
    }

    @Test
    void reusedTokenIsRefusedAndTheWayToANewOneIsSaid() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            Path token = platform.createRuntime("acme", "prod");
            platform.connect(platform.clientConfig("acme", "prod", token, NOWHERE, null));

            // As a pod whose volume is gone.
            assertRefused(platform.server.tunnelAddress().port(), token, folder.resolve("lost"),
                    "was used with another key before", "lost its identity", NEW_TOKEN + "acme prod",
                    "(401)");
        }
    }

    @Test
    void expiredTokenIsRefused() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            platform.createRuntime("acme", "prod");
            Path token = platform.enrolToken("acme", "prod", "1s");
            Instant over = Instant.now().plusMillis(1100);
            await().until(() -> Instant.now().isAfter(over));

            assertRefused(platform.server.tunnelAddress().port(), token, folder.resolve("late"),
                    "the enrolment token expired at 2", NEW_TOKEN + "acme prod", "(401)");
        }
    }

    @Test
    void tokenForAnotherRuntimeIsRefused() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            int port = platform.server.tunnelAddress().port();
            Path prod = platform.createRuntime("acme", "prod");
            Path test = platform.createRuntime("acme", "test");
            // The name of one runtime's token with the secret of another's.
            String[] one = parts(prod);
            String[] other = parts(test);

            assertRefused(port, token("mixed", String.join(".", one[0], one[1], other[2], one[3])),
                    folder.resolve("mixed-identity"), "the proof is not by its secret", NEW_TOKEN);

            // A runtime that was made again under its old name is another one.
            Path old = token("old", Files.readString(prod));
            platform.deleteRuntime("acme", "prod");
            platform.createRuntime("acme", "prod");
            assertRefused(port, old, folder.resolve("old-identity"), "unknown", NEW_TOKEN);
        }
    }

    @Test
    void tamperedTokenIsRefused() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            int port = platform.server.tunnelAddress().port();
            String[] parts = parts(platform.createRuntime("acme", "prod"));
            char first = parts[2].charAt(0) == 'A' ? 'B' : 'A';

            assertRefused(port,
                    token("tampered", String.join(".", parts[0], parts[1], first + parts[2].substring(1),
                            parts[3])),
                    folder.resolve("identity"), "the proof is not by its secret", NEW_TOKEN, "(401)");
            assertRefused(port,
                    token("cut", String.join(".", parts[0], parts[1], parts[2].substring(1), parts[3])),
                    folder.resolve("identity"), "enrolmentTokenFile", "malformed");
        }
    }

    @Test
    void replayedNonceIsRefused() throws Exception {
        try (Platform platform = Platform.start(folder);
                EnrolmentFront front = new EnrolmentFront(platform)) {
            Path first = platform.createRuntime("acme", "prod");
            try (ClientProcess client = ClientProcess.start(front.port(), first, folder.resolve("first"),
                    NOWHERE)) {
                client.awaitOutput("IdentitySource enrolled");
            }
            Path again = platform.enrolToken("acme", "prod", "1h");

            front.replaying(front.answers().getFirst());

            assertRefused(front.port(), again, folder.resolve("replayed"), "nonce: unknown, used or older",
                    "(409)");
        }
    }

    @Test
    void answerThatGotLostIsGivenAgain() throws Exception {
        try (Platform platform = Platform.start(folder);
                EnrolmentFront front = new EnrolmentFront(platform)) {
            Path token = platform.createRuntime("acme", "prod");
            Path identity = folder.resolve("identity");
            front.losing(1);
            try (ClientProcess client = ClientProcess.start(front.port(), token, identity, NOWHERE)) {
                client.awaitOutput("IdentitySource enrolled");
            }

            List<X509Certificate> issued = front.answers()
                    .stream()
                    .map(Pattern.compile("\"certificate\":\"([^\"]+)\"")::matcher)
                    .filter(found -> found.find())
                    .map(found -> Pem.certificates(found.group(1).replace("\\n", "\n")).getFirst())
                    .toList();
            assertThat(issued).hasSize(2);
            assertThat(issued.get(1)).isEqualTo(issued.get(0));
            assertThat(PemFiles.readCertificates(identity.resolve("client.crt")))
                    .containsExactly(issued.get(0));
        }
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A TLS session that is resumed brings the client's certificate along: it is judged anew. */
class ResumedSessionIT {
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");

    @TempDir
    Path folder;

    @Test
    void aRevokedClientIsRefusedOnAResumedSession() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", NOWHERE).stop(Duration.ZERO).block();
            TlsDial client = TlsDial.as(folder.resolve("identity-acme-prod"));
            int port = platform.server.tunnelAddress().port();

            TlsDial.Answer first = client.upgrade(port, Platform.DOMAIN);
            TlsDial.Answer second = client.upgrade(port, Platform.DOMAIN);
            assertThat(first.answer()).startsWith("HTTP/1.1 101 ");
            assertThat(first.resumed()).isFalse();
            assertThat(second.answer()).startsWith("HTTP/1.1 101 ");
            assertThat(second.resumed()).isTrue();

            platform.revokeRuntime("acme", "prod");

            TlsDial.Answer third = client.upgrade(port, Platform.DOMAIN);
            assertThat(third.resumed()).isTrue();
            assertThat(third.answer()).startsWith("HTTP/1.1 401 ").contains("was revoked");
        }
    }

    @Test
    void callersSessionsAreResumed() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            TlsDial caller = new TlsDial(null);
            String host = "acme-prod." + Platform.DOMAIN;
            String[] request = {"GET / HTTP/1.1", "Host: " + host, "Connection: close"};
            int port = platform.server.edgeAddress().port();

            assertThat(caller.say(port, host, request).resumed()).isFalse();
            assertThat(caller.say(port, host, request).resumed()).isTrue();
        }
    }
}

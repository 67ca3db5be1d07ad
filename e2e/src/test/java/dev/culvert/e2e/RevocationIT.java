package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A revoked client is off at once, stays off when its server restarts, and returns with a new token only. */
class RevocationIT {
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");

    @TempDir
    Path folder;

    @Test
    void revokedClientIsOffAndStaysOff() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect("acme", "prod", NOWHERE);
            TunnelClient other = platform.connect("acme", "test", NOWHERE);

            await().atMost(Duration.ofSeconds(20)).until(() -> platform.sessions().size() == 4);
            platform.revokeRuntime("acme", "prod");

            await().atMost(Duration.ofSeconds(20)).until(() -> !client.isLive());
            assertThat(other.isLive()).isTrue();
            assertThat(Platform.readiness(client)).startsWith("503").contains("revoked");
            assertThat(platform.refusals()).isZero();

            dialAgain(client);

            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(platform.refusals()).isPositive());
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> Platform.readiness(client).contains("deleted runtime")); // the refusal's words
            assertThat(client.isLive()).isFalse();
        }
        try (Platform restarted = Platform.restart(folder)) {
            TunnelClient again = restarted.start(
                    restarted.clientConfig("acme", "prod", null, NOWHERE, null), event -> {});
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(restarted.refusals()).isPositive());
            assertThat(again.isLive()).isFalse();
        }
    }

    /** By itself it would in a minute. */
    private static void dialAgain(TunnelClient client) {
        client.pause();
        client.resume();
    }
}

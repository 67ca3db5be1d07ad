package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Server and client over real sockets: what a caller sees. */
class TunnelIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    @Test
    void anUpstreamThatRefusesIsA502OfTheUpstream() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", URI.create("http://127.0.0.1:1"));

            String answer = platform.caller("acme", "prod")
                    .get()
                    .uri("/hello")
                    .responseSingle(
                            (head, body) -> body.asString().map(text -> head.status().code() + " " + text))
                    .block(PATIENCE);

            assertThat(answer).startsWith("502 ").contains("urn:culvert:problem:upstream-refused");
        }
    }
}

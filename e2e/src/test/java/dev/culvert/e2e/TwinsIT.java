package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.ClientConfig;
import dev.culvert.client.TunnelClient;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.http.client.HttpClient;

/** Two clients with the same identity, as when a volume is copied or a deployment has two replicas. */
class TwinsIT {
    private static final Logger log = LoggerFactory.getLogger(TwinsIT.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** How long they are watched; 60 s for the figure of docs. */
    private static final Duration WATCHED = Duration
            .ofSeconds(Integer.getInteger("culvert.twins.seconds", 10));
    private static final Pattern GENERATION = Pattern.compile("\"generation\":(\\d+)");
    private static final URI NOWHERE = URI.create("http://127.0.0.1:9");

    @TempDir
    Path folder;

    @Test
    void oneServesAndTheOtherWaits() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            Path token = platform.createRuntime("acme", "prod");
            ClientConfig config = platform.clientConfig("acme", "prod", token, NOWHERE, null);
            TunnelClient first = platform.connect(config);
            TunnelClient second = platform.connect(withIdentity(config, copied(config.identityDir())));
            await().atMost(PATIENCE).until(() -> !first.isLive() && platform.sessions().size() == 2);

            Set<String> generations = new HashSet<>();
            long cpu = cpuNanos();
            await().atMost(WATCHED.plus(PATIENCE))
                    .pollInterval(Duration.ofMillis(500))
                    .during(WATCHED)
                    .until(() -> {
                        GENERATION.matcher(platform.tunnels())
                                .results()
                                .forEach(found -> generations.add(found.group(1)));
                        return second.isLive() && !first.isLive();
                    });
            double share = (cpuNanos() - cpu) / (double) WATCHED.toNanos();

            log.info("twins for {}: {} generation(s), this process at {} % of a core", WATCHED,
                    generations.size(), Math.round(share * 100));
            assertThat(generations).hasSizeLessThan(4);
            assertThat(readiness(first)).contains("another client");
            if (WATCHED.toSeconds() >= 60) { // until then it may not have looked again
                assertThat(platform.runtime("acme", "prod")).contains("\"waiting\":[{\"remote\":");
            }
        }
    }

    private static ClientConfig withIdentity(ClientConfig of, Path identity) {
        return new ClientConfig(of.server(), of.serverCa(), null, identity, of.health(), of.to(), null, null,
                of.connections());
    }

    private static Path copied(Path identity) throws IOException {
        Path copy = identity.resolveSibling("copy");
        List<Path> files;
        try (Stream<Path> all = Files.list(identity)) {
            files = all.toList();
        }
        Files.createDirectory(copy, java.nio.file.attribute.PosixFilePermissions
                .asFileAttribute(Files.getPosixFilePermissions(identity)));
        for (Path file : files) {
            Files.copy(file, copy.resolve(file.getFileName()),
                    java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
        }
        return copy;
    }

    private static String readiness(TunnelClient client) {
        return HttpClient.create()
                .get()
                .uri("http://" + client.healthAddress() + "/readyz")
                .responseSingle(
                        (head, body) -> body.asString().map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}

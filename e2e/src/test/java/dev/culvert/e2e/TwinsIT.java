package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Two clients with the same identity, as when a volume is copied or a deployment has two replicas. */
class TwinsIT {
    private static final Logger log = LoggerFactory.getLogger(TwinsIT.class);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
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
            ClientConfig config = curious(platform.clientConfig("acme", "prod", token, NOWHERE, null));
            TunnelClient first = platform.connect(config);
            TunnelClient second = platform.connect(withIdentity(config, copied(config.identityDir())));
            await().atMost(PATIENCE).until(() -> !first.isLive() && platform.sessions().size() == 2);

            LongSummaryStatistics generations = new LongSummaryStatistics();
            long cpu = cpuNanos();
            await().atMost(WATCHED.plus(PATIENCE))
                    .pollInterval(Duration.ofMillis(500))
                    .during(WATCHED)
                    .until(() -> {
                        GENERATION.matcher(platform.tunnels())
                                .results()
                                .forEach(found -> generations.accept(Long.parseLong(found.group(1))));
                        return second.isLive() && !first.isLive();
                    });
            double share = (cpuNanos() - cpu) / (double) WATCHED.toNanos();

            long takeOvers = generations.getMax() - generations.getMin();

            log.info("twins for {}: {} take-overs, this process at {} % of a core", WATCHED, takeOvers,
                    Math.round(share * 100));
            assertThat(takeOvers).isLessThan(4);
            assertThat(Platform.readiness(first)).isEqualTo("200 waiting\n");
            assertThat(platform.runtime("acme", "prod")).contains("\"waiting\":[{\"remote\":");
            if (WATCHED.toSeconds() >= 60) { // before, it is the JVM's compiler that is measured
                assertThat(share).isLessThan(0.05);
            }
        }
    }

    private static ClientConfig withIdentity(ClientConfig of, Path identity) {
        return new ClientConfig(of.server(), of.serverCa(), null, null, null, identity, of.health(), of.to(),
                null,
                null, of.connections(), of.conflictRetry(), of.sessionLife());
    }

    /** Looks several times in the time that it is watched; as an operator would have it where that is long. */
    private static ClientConfig curious(ClientConfig of) {
        return WATCHED.toSeconds() >= 60
                ? of
                : new ClientConfig(of.server(), of.serverCa(), null, null, of.enrolmentTokenFile(),
                        of.identityDir(), of.health(), of.to(), null, null, of.connections(),
                        Duration.ofSeconds(1), of.sessionLife());
    }

    private static Path copied(Path identity) throws IOException {
        Path copy = identity.resolveSibling("copy");
        List<Path> files;
        try (Stream<Path> all = Files.list(identity)) {
            files = all.toList();
        }
        Files.createDirectory(copy, PosixFilePermissions
                .asFileAttribute(Files.getPosixFilePermissions(identity)));
        for (Path file : files) {
            Files.copy(file, copy.resolve(file.getFileName()),
                    StandardCopyOption.COPY_ATTRIBUTES);
        }
        return copy;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}

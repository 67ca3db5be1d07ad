package dev.culvert.router;

import dev.culvert.edge.route.DurableMatch.DurableRoute;
import dev.culvert.edge.route.Verification;
import dev.culvert.inbox.WebhookSecrets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * The secrets that webhooks are signed with, a line each, read again every 2 s off the event loops. A file that can't be read
 * holds none: its webhooks are refused.
 */
final class SecretFiles implements WebhookSecrets {
    private static final Logger log = LoggerFactory.getLogger(SecretFiles.class);
    private static final Duration EVERY = Duration.ofSeconds(2);
    /** As many as an inbox tries. */
    private static final int MAX_SECRETS = 8;

    private final Supplier<RoutingConfig> config;
    private volatile Map<Path, List<byte[]>> secrets;

    /** Reads the files. Blocks. */
    SecretFiles(Supplier<RoutingConfig> config) {
        this.config = config;
        this.secrets = read();
    }

    /** Looks every 2 s until disposed. */
    Disposable watch() {
        return Schedulers.boundedElastic()
                .schedulePeriodically(() -> secrets = read(), EVERY.toMillis(), EVERY.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    public @Nullable List<byte[]> of(String runtimeId, DurableRoute route) {
        Verification verify = route.verify();
        Path file = verify == null ? null : verify.secretFile();
        return verify == null ? null : file == null ? List.of() : secrets.getOrDefault(file, List.of());
    }

    private Map<Path, List<byte[]>> read() {
        Map<Path, List<byte[]>> found = new HashMap<>();
        for (RouteConfig route : config.get().effectiveRoutes()) {
            RouteConfig.Verify verify = route.verify();
            if (verify != null) {
                found.computeIfAbsent(verify.secretFile(), SecretFiles::lines);
            }
        }
        return Map.copyOf(found);
    }

    private static List<byte[]> lines(Path file) {
        try {
            return Files.readString(file)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .limit(MAX_SECRETS)
                    .map(line -> line.getBytes(StandardCharsets.UTF_8))
                    .toList();
        } catch (IOException e) {
            log.atError()
                    .addKeyValue("file", file)
                    .addKeyValue("reason", e.getClass().getSimpleName())
                    .log("secret of webhooks can't be read, they are refused");
            return List.of();
        }
    }
}

package dev.culvert.inbox;

import dev.culvert.edge.Reason;
import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.route.DurableMatch.DurableRoute;
import dev.culvert.edge.route.Verification;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * Secrets in the files that routes name: one a line, empty lines are left out. They are read again every few seconds; a file that
 * can't be read any more leaves what it said before in force. A route without a file is not verified here.
 */
public final class SecretFiles implements WebhookSecrets, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SecretFiles.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);
    private static final int MAX_BYTES = 64 << 10;

    private final Map<Path, List<byte[]>> secrets = new ConcurrentHashMap<>();
    private final Disposable again;

    private SecretFiles() {
        this.again = Flux.interval(AGAIN, Schedulers.boundedElastic())
                .onBackpressureDrop()
                .subscribe(any -> readAgain());
    }

    /** Reads the files. Blocks. Throws ConfigException for the key {@code secretFile} when one can't be read or is empty. */
    public static SecretFiles of(Collection<Path> files) {
        for (Path file : files) {
            require(file);
        }
        var read = new SecretFiles();
        read.watch(files);
        return read;
    }

    /** These files from now on, and no others. Blocks. Throws as {@link #of} does, and changes nothing then. */
    public void watch(Collection<Path> files) {
        Map<Path, List<byte[]>> read = new ConcurrentHashMap<>();
        for (Path file : files) {
            read.put(file, require(file));
        }
        secrets.putAll(read);
        secrets.keySet().retainAll(read.keySet());
    }

    @Override
    public @Nullable List<byte[]> of(String runtimeId, DurableRoute route) {
        Verification verify = route.verify();
        Path file = verify == null ? null : verify.secretFile();
        return file == null ? null : secrets.getOrDefault(file, List.of());
    }

    /** Reads what may have changed. Blocks. */
    void readAgain() {
        for (Path file : List.copyOf(secrets.keySet())) {
            try {
                List<byte[]> now = read(file);
                if (!now.isEmpty()) {
                    secrets.replace(file, now);
                }
            } catch (IOException failed) {
                log.atWarn()
                        .addKeyValue("file", file)
                        .addKeyValue("reason", Reason.of(failed))
                        .log("secrets of webhooks not read again");
            }
        }
    }

    private static List<byte[]> require(Path file) {
        try {
            List<byte[]> found = read(file);
            if (!found.isEmpty()) {
                return found;
            }
        } catch (IOException unreadable) {
            throw new ConfigException("secretFile",
                    "a file that can be read, with a secret on each line: " + file);
        }
        throw new ConfigException("secretFile",
                "a file with a secret on each line, which " + file + " has none of");
    }

    private static List<byte[]> read(Path file) throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException("it is larger than " + MAX_BYTES + " bytes");
        }
        List<byte[]> found = new ArrayList<>();
        for (String line : Files.readString(file, StandardCharsets.ISO_8859_1).split("\r?\n", -1)) {
            if (!line.isBlank() && found.size() < SignatureCheck.MAX_SECRETS) {
                found.add(line.strip().getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return List.copyOf(found);
    }

    @Override
    public void close() {
        again.dispose();
    }

    @Override
    public String toString() {
        return "secrets of " + secrets.size() + " files";
    }
}

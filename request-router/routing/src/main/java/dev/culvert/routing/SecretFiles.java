package dev.culvert.routing;

import dev.culvert.config.Reason;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.relay.route.SigningSecrets;
import dev.culvert.relay.route.Verification;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * The secrets of signed webhooks. Each file has one secret on each line, in UTF-8; the first 8 are used.
 * While watched, the files are reloaded every 2 s off the event loops. A file that can't be read gives no
 * secrets, so its webhooks are refused. Safe for use by any thread.
 */
public final class SecretFiles {
    private static final Logger log = LoggerFactory.getLogger(SecretFiles.class);
    private static final Duration EVERY = Duration.ofSeconds(2);
    /** The maximum size of a file. A larger file is not a file of secrets. */
    private static final int MAX_FILE_BYTES = 64 << 10;

    private final Supplier<Set<Path>> files;
    private volatile Map<Path, SigningSecrets> secrets = Map.of();

    /**
     * Reads the files. Blocks.
     *
     * @param files supplies the files; called before each reading
     */
    public SecretFiles(Supplier<Set<Path>> files) {
        this.files = files;
        lookAgain();
    }

    /**
     * Checks the files every 2 s until disposed.
     *
     * @param changed called when the content or the set of files has changed, on a thread that may block
     */
    public Disposable watch(Runnable changed) {
        return Schedulers.boundedElastic().schedulePeriodically(() -> {
            if (lookAgain()) {
                changed.run();
            }
        }, EVERY.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The secrets for a route's webhooks. Empty: all are refused. Null: they are not verified here. */
    public @Nullable List<byte[]> of(DurableRoute route) {
        Verification verify = route.verify();
        Path file = verify == null ? null : verify.secretFile();
        return verify == null ? null : file == null ? List.of() : in(file).list();
    }

    /** The secrets of a file at its last reading; none if it could not be read. */
    public SigningSecrets in(Path file) {
        return secrets.getOrDefault(file, SigningSecrets.NONE);
    }

    /** Reads the files. Blocks. Returns whether the secrets have changed. */
    synchronized boolean lookAgain() {
        Map<Path, SigningSecrets> before = secrets;
        Map<Path, SigningSecrets> found = new HashMap<>();
        files.get().forEach(file -> found.put(file, read(file, before.get(file))));
        secrets = Map.copyOf(found);
        return !found.equals(before);
    }

    /** Reads a file. Logs an unusable file once, not at each reading. */
    private static SigningSecrets read(Path file, @Nullable SigningSecrets before) {
        String reason = "it is empty";
        try {
            SigningSecrets found = read(file);
            if (!found.isEmpty()) {
                return found;
            }
        } catch (CharacterCodingException binary) {
            reason = "it is no UTF-8";
        } catch (IOException failed) {
            reason = Reason.of(failed);
        } catch (IllegalArgumentException tooLong) {
            reason = "a line is too long";
        }
        if (before == null || !before.isEmpty()) {
            log.atError()
                    .addKeyValue("file", file)
                    .addKeyValue("reason", reason)
                    .log("secrets of webhooks can't be read; these webhooks are refused");
        }
        return SigningSecrets.NONE;
    }

    private static SigningSecrets read(Path file) throws IOException {
        if (Files.size(file) > MAX_FILE_BYTES) {
            throw new IOException("it is larger than " + MAX_FILE_BYTES + " bytes");
        }
        return SigningSecrets.of(Files.readString(file)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .limit(SigningSecrets.MAX_SECRETS)
                .map(line -> line.getBytes(StandardCharsets.UTF_8))
                .toList());
    }

    @Override
    public String toString() {
        return "secrets of " + secrets.size() + " files";
    }
}

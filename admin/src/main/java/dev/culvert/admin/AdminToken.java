package dev.culvert.admin;

import dev.culvert.certs.AtomicFile;
import dev.culvert.certs.Sha256;
import dev.culvert.config.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The admin API's bearer token. It is stored in a file, which is read again when it changes. While the file
 * is unusable, every token is refused. Thread-safe; all file access runs on the bounded elastic scheduler.
 */
public final class AdminToken {
    private static final Logger log = LoggerFactory.getLogger(AdminToken.class);
    private static final int SECRET_BYTES = 32;
    /** The minimum length, against tokens that can be guessed; generated tokens have 43 characters. */
    private static final int MIN_CHARS = 16;
    private static final int MAX_FILE_BYTES = 4096;
    private static final String EXPECTED = "a readable file with one token of at least " + MIN_CHARS
            + " characters; remove the file to have one made";

    private final Path file;
    private volatile Version current;

    private AdminToken(Path file, Version current) {
        this.file = file;
        this.current = current;
    }

    /** The file at the last check; no hash when it was unusable. */
    private record Version(@Nullable FileTime modified, long size, @Nullable Sha256 hash) {}

    /**
     * Reads the token's file. Creates it, with mode 0600 and a random token, when absent. Errors: {@link
     * ConfigException} naming {@code admin.tokenFile}.
     */
    public static Mono<AdminToken> load(Path file) {
        return Mono.fromCallable(() -> {
            if (Files.notExists(file)) {
                make(file);
            }
            Version version = read(file);
            if (version.hash() == null) {
                throw new ConfigException("admin.tokenFile", EXPECTED);
            }
            return new AdminToken(file, version);
        })
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(IOException.class,
                        failed -> new ConfigException("admin.tokenFile", EXPECTED));
    }

    /**
     * Whether {@code presented} is the present token. Compares in constant time. Always emits a value; no
     * errors.
     */
    public Mono<Boolean> matches(String presented) {
        return matches(Sha256.of(presented.getBytes(StandardCharsets.UTF_8)));
    }

    /** Whether this is the hash of the present token. As {@link #matches(String)}. */
    public Mono<Boolean> matches(Sha256 hash) {
        return Mono.fromCallable(() -> hash.equals(refreshed())).subscribeOn(Schedulers.boundedElastic());
    }

    private @Nullable Sha256 refreshed() {
        Version known = current;
        Version seen;
        try {
            seen = Files.size(file) == known.size()
                    && Objects.equals(Files.getLastModifiedTime(file), known.modified()) ? known : read(file);
        } catch (IOException e) {
            seen = new Version(null, -1, null);
        }
        if (!seen.equals(known)) {
            current = seen;
            if (seen.hash() == null) {
                log.atError()
                        .addKeyValue("file", file)
                        .addKeyValue("expected", EXPECTED)
                        .log("admin token file is not usable: every admin call is refused");
            } else {
                log.atInfo().addKeyValue("file", file).log("admin token read again");
            }
        }
        return seen.hash();
    }

    private static Version read(Path file) throws IOException {
        FileTime modified = Files.getLastModifiedTime(file);
        long size = Files.size(file);
        String text = size > MAX_FILE_BYTES
                ? ""
                : Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        boolean usable = text.length() >= MIN_CHARS && text.chars().allMatch(c -> c > ' ' && c <= '~');
        return new Version(modified, size,
                usable ? Sha256.of(text.getBytes(StandardCharsets.US_ASCII)) : null);
    }

    private static void make(Path file) throws IOException {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(secret) + '\n';
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        if (!AtomicFile.create(file, text.getBytes(StandardCharsets.US_ASCII), "rw-------")) {
            log.atDebug().addKeyValue("file", file).log("another process made the admin token first");
        }
    }
}

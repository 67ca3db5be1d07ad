package dev.culvert.client;

import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * The file {@code paused} of the identity folder: while it is there, the client has no tunnel, whoever starts it. Only who can
 * write on the client's own disk puts it there or takes it away. Blocks.
 */
final class PauseMark {
    private final Path folder;
    private final Path file;

    PauseMark(Path identityDir) {
        this.folder = identityDir;
        this.file = identityDir.resolve("paused");
    }

    boolean isThere() {
        return Files.exists(file);
    }

    /** Durable when this returns. */
    void put(String by) throws IOException {
        if (!isThere()) {
            Files.createDirectories(folder);
            byte[] text = (Instant.now() + " by " + by + "\n").getBytes(StandardCharsets.UTF_8);
            AtomicFile.write(file, text, "rw-------");
        }
    }

    void remove() throws IOException {
        Files.deleteIfExists(file);
    }
}

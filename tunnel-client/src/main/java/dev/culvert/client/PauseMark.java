package dev.culvert.client;

import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * The file {@code paused} in the identity folder. While it exists, the client opens no tunnel, also after a
 * restart. Only users who can write to the client's disk can create or delete it. Blocks.
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

    /** Creates the file. It is durable when this method returns. */
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

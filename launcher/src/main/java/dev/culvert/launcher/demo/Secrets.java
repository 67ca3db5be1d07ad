package dev.culvert.launcher.demo;

import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes the demo's tokens to files that only the user can read, because others may see the demo's folder.
 */
final class Secrets {
    private Secrets() {}

    /** Writes a line, mode 0600. Returns the file. */
    static Path write(Path file, String secret) throws IOException {
        AtomicFile.write(file, (secret + "\n").getBytes(StandardCharsets.UTF_8), "rw-------");
        return file;
    }
}

package dev.culvert.launcher.demo;

import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Tokens of the demo, in files that only its user reads: the demo's folder may be one that others see. */
final class Secrets {
    private Secrets() {}

    /** Writes a line, mode 0600. Returns the file. */
    static Path write(Path file, String secret) throws IOException {
        AtomicFile.write(file, (secret + "\n").getBytes(StandardCharsets.UTF_8), "rw-------");
        return file;
    }
}

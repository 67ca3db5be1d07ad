package dev.culvert.launcher.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The demo's folder, private to its user and removed with its content. Blocks on the disk.
 *
 * @param path the absolute path
 */
record TemporaryFolder(Path path) {
    /** Creates a folder that only its owner can access. */
    static TemporaryFolder create() {
        try {
            return new TemporaryFolder(Files.createTempDirectory("culvert-demo-").toAbsolutePath());
        } catch (IOException e) {
            throw new UncheckedIOException("the demo's temporary folder", e);
        }
    }

    /** Removes the folder at exit. Files that can't be removed stay. */
    void remove() {
        try (Stream<Path> found = Files.walk(path)) {
            found.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::removeOne);
        } catch (IOException | UncheckedIOException e) {
            // Another process removed it at the same time.
        }
    }

    private static void removeOne(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            path.toFile().deleteOnExit();
        }
    }
}

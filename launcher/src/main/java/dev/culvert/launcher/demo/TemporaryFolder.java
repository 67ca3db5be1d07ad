package dev.culvert.launcher.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The demo's folder: private to its user, removed with all it holds. Blocks on the disk.
 *
 * @param path absolute
 */
record TemporaryFolder(Path path) {
    /** A new folder, readable by its owner alone. */
    static TemporaryFolder create() {
        try {
            return new TemporaryFolder(Files.createTempDirectory("culvert-demo-").toAbsolutePath());
        } catch (IOException e) {
            throw new UncheckedIOException("the demo's temporary folder", e);
        }
    }

    /** Removes it; what can't be removed stays, for this happens at exit. */
    void remove() {
        try (Stream<Path> found = Files.walk(path)) {
            found.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::removeOne);
        } catch (IOException | UncheckedIOException e) {
            // Somebody else removed it at the same time: nothing is left to do.
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

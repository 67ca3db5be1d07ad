package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.process.Scheduling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The place of one start: a folder that only its owner can access, and the processes that were started in it.
 * Closing ends the processes, the last one first, and removes the folder. So does the end of this JVM, for a
 * measurement that was interrupted. Used by one thread; only {@link #close} may be called from another.
 */
public final class Testbed implements AutoCloseable {
    private final Path folder;
    private final Scheduling scheduling;
    private final Deque<Runnable> closing = new ArrayDeque<>();
    private @Nullable Certificates certificates;
    private boolean closed;

    private Testbed(Path folder, Scheduling scheduling) {
        this.folder = folder;
        this.scheduling = scheduling;
    }

    /**
     * Creates a test bed with an empty folder.
     *
     * @param scheduling of all programs that it starts
     */
    public static Testbed create(Scheduling scheduling) throws IOException {
        Path folder = Files.createTempDirectory("culvert-bench-").toAbsolutePath();
        var bed = new Testbed(folder, scheduling);
        var hook = new Thread(bed::close, "bench-testbed");
        Runtime.getRuntime().addShutdownHook(hook);
        bed.onClose(() -> unhook(hook));
        return bed;
    }

    /** Creates a folder for the files of one target. */
    public Path folder(String name) throws IOException {
        return Files.createDirectories(folder.resolve(name));
    }

    /** Writes a new file that only its owner can read. */
    static Path secret(Path file, String text) throws IOException {
        Files.createFile(file,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, text);
    }

    /** The certificates of all TLS listeners. Made at the first call, by a process that then ends. */
    Certificates certificates() throws IOException {
        if (certificates == null) {
            certificates = Certificates.create(folder("certs"));
        }
        return certificates;
    }

    /** Starts a program that ends with this test bed. Its output goes to the file. */
    Program start(Path log, List<String> command) {
        Program program = Program.start(log, scheduling.apply(command));
        onClose(program::close);
        return program;
    }

    Scheduling scheduling() {
        return scheduling;
    }

    /** Runs an action at close, before those of earlier calls. */
    synchronized void onClose(Runnable action) {
        if (closed) {
            action.run();
            throw new IllegalStateException("the test bed is closed");
        }
        closing.push(action);
    }

    @Override
    public synchronized void close() {
        closed = true;
        while (!closing.isEmpty()) {
            closing.pop().run();
        }
        remove(folder);
    }

    private static void unhook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM ends: the hook is what closes this test bed.
        }
    }

    /**
     * Removes a folder with its content. Files that another process removes at the same time do not matter.
     */
    private static void remove(Path folder) {
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path file : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            folder.toFile().deleteOnExit();
        }
    }
}

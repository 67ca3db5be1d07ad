package dev.culvert.launcher.cache;

import dev.culvert.config.Reason;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The folder in which caches are made: beside them, so that they can be renamed into place. Named by this
 * process, so that another one knows what a killed process has left. When this process ends early, the
 * processes that it has started are killed first.
 */
final class WorkFolder implements AutoCloseable {
    private static final String PREFIX = ".making-";
    /** For threads whose processes were killed. */
    private static final int PATIENCE_SECONDS = 10;

    private final Path path;
    private final ExecutorService threads;
    private final Thread atEnd = new Thread(this::abandon, "abandon");

    private WorkFolder(Path path, ExecutorService threads) {
        this.path = path;
        this.threads = threads;
    }

    /**
     * Makes the folder, and that of the caches if there is none. Proves that both can be written.
     *
     * @param threads those that start processes
     */
    static WorkFolder in(Path caches, ExecutorService threads) {
        try {
            if (!Files.isDirectory(caches)) {
                Files.createDirectories(caches);
                // Caches that root makes are for all, whatever root's umask.
                Files.setPosixFilePermissions(caches, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
            removeLeft(caches);
            var folder = new WorkFolder(Files.createTempDirectory(caches.toAbsolutePath(),
                    PREFIX + ProcessHandle.current().pid() + "-"), threads);
            Runtime.getRuntime().addShutdownHook(folder.atEnd);
            return folder;
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, caches + " can't be written: " + Reason.of(e)
                    + " (expected: a folder of yours; --to names another)");
        }
    }

    Path path() {
        return path;
    }

    /** Waits for the threads, and removes the folder. */
    @Override
    public void close() {
        threads.close();
        try {
            Runtime.getRuntime().removeShutdownHook(atEnd);
            remove(path);
        } catch (IllegalStateException e) {
            // this process ends already, and its hook removes the folder
        }
    }

    /** Runs as shutdown hook. A thread may start one more process while the others are killed. */
    private void abandon() {
        threads.shutdownNow();
        killAll();
        try {
            boolean _ = threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        killAll();
        remove(path);
    }

    private static void killAll() {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    }

    /** Removes the folders of processes that are gone. */
    private static void removeLeft(Path caches) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(caches, PREFIX + "*")) {
            for (Path each : left) {
                if (owner(each).isEmpty()) {
                    remove(each);
                }
            }
        }
    }

    private static Optional<ProcessHandle> owner(Path work) {
        String id = String.valueOf(work.getFileName()).substring(PREFIX.length());
        try {
            return ProcessHandle.of(Long.parseLong(id, 0, Math.max(0, id.indexOf('-')), 10));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static void remove(Path work) {
        try (Stream<Path> files = Files.walk(work)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (NoSuchFileException e) {
            // another process removes it, too
        } catch (IOException | UncheckedIOException e) {
            System.err.println("culvert: " + work + " can't be removed: " + Reason.of(e));
        }
    }
}

package dev.culvert.inbox.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of large bodies. Each process has its own folder and holds a lock in it while it lives, which
 * separates the leftovers of a dead process from the files that a living one is writing. All methods block.
 */
public final class SpoolFolder implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SpoolFolder.class);
    private static final String LOCK = "lock";
    private static final FileAttribute<Set<PosixFilePermission>> FOLDER = PosixFilePermissions
            .asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE = PosixFilePermissions
            .asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path root;
    private final Path own;
    private final FileChannel lock;

    private SpoolFolder(Path root, Path own, FileChannel lock) {
        this.root = root;
        this.own = own;
        this.lock = lock;
    }

    /** Whether a row names a file. */
    @FunctionalInterface
    interface Known {
        boolean isNamed(String name) throws SQLException;
    }

    /** Creates this process's folder below {@code root}. */
    static SpoolFolder open(Path root) throws IOException {
        Files.createDirectories(root, FOLDER);
        Path own = Files.createDirectory(root.resolve(UUID.randomUUID().toString()), FOLDER);
        FileChannel channel = FileChannel.open(own.resolve(LOCK),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), FILE);
        channel.lock();
        sync(root);
        return new SpoolFolder(root, own, channel);
    }

    /** Whether a process left bodies below {@code root}. */
    static boolean holdsBodies(Path root) throws IOException {
        if (Files.notExists(root)) {
            return false;
        }
        try (Stream<Path> all = Files.walk(root)) {
            return all.anyMatch(file -> Files.isRegularFile(file) && !file.endsWith(LOCK));
        }
    }

    /** Returns the name of a file as rows store it. */
    static String name(Path file) {
        return Objects.requireNonNull(file.getParent()).getFileName() + "/" + file.getFileName();
    }

    /** Returns the file of a stored name. */
    public Path file(String name) {
        return root.resolve(name);
    }

    /** Returns the path of a new file of this process. */
    public Path create(String id) {
        return own.resolve(id);
    }

    public static FileChannel write(Path file) throws IOException {
        return FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), FILE);
    }

    /** Forces the names of new files in this process's folder to disk. */
    public void sync() throws IOException {
        sync(own);
    }

    /** Deletes the files of stored names. Blocks. */
    public void delete(List<String> names) {
        for (String name : names) {
            try {
                Files.deleteIfExists(file(name));
            } catch (IOException left) {
                log.atDebug().setCause(left).log("spool file left for the next start");
            }
        }
    }

    /** Removes files that dead processes left and no row names. */
    void removeOrphans(Known rows) throws IOException, SQLException {
        try (Stream<Path> folders = Files.list(root)) {
            for (Path folder : folders.filter(folder -> !folder.equals(own)).toList()) {
                removeOrphans(folder, rows);
            }
        }
    }

    private static void removeOrphans(Path folder, Known rows) throws IOException, SQLException {
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), Set.of(StandardOpenOption.CREATE,
                StandardOpenOption.WRITE), FILE); FileLock held = channel.tryLock()) {
            if (held == null) {
                return;
            }
            int removed = 0;
            int kept = 0;
            for (Path file : filesOf(folder)) {
                if (rows.isNamed(name(file))) {
                    kept++;
                } else {
                    Files.delete(file);
                    removed++;
                }
            }
            if (kept == 0) {
                Files.deleteIfExists(folder.resolve(LOCK));
                Files.deleteIfExists(folder);
            }
            if (removed > 0) {
                log.atInfo()
                        .addKeyValue("files", removed)
                        .log("orphaned webhook bodies removed");
            }
        } catch (OverlappingFileLockException ofThisProcess) {
            // Another inbox of this process uses the folder.
        }
    }

    private static List<Path> filesOf(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return List.of(); // the other process closed it meanwhile
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> !file.endsWith(LOCK)).toList();
        }
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        lock.close();
        if (filesOf(own).isEmpty()) {
            Files.deleteIfExists(own.resolve(LOCK));
            Files.deleteIfExists(own);
        }
    }
}

package dev.culvert.certs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Creates or replaces a file atomically and durably. Blocks on the disk. */
public final class AtomicFile {
    private AtomicFile() {}

    /**
     * Writes a temporary file, syncs it, then renames it. The folder must exist.
     *
     * @param mode for example {@code rw-------}; ignored if the file system has no POSIX modes
     */
    public static void write(Path file, byte[] content, String mode) throws IOException {
        Path temporary = written(file.toAbsolutePath(), content, mode);
        try {
            move(temporary, file);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Writes as {@link #write}, but does not replace an existing file. The folder must exist.
     *
     * @param mode for example {@code rw-------}; ignored if the file system has no POSIX modes
     * @return false if the target existed
     */
    public static boolean create(Path file, byte[] content, String mode) throws IOException {
        Path target = file.toAbsolutePath();
        Path temporary = written(target, content, mode);
        try {
            Files.createLink(target, temporary); // a rename would replace a file that another process has just created
            force(target);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (UnsupportedOperationException | FileSystemException e) {
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
            move(temporary, target); // the file system does not support links
            return true;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Writes content to the existing file {@code reserved}, then renames it to {@code file} in the same
     * folder.
     *
     * @param reserved its mode is kept; it does not exist afterwards
     */
    public static void replace(Path reserved, Path file, byte[] content) throws IOException {
        try (FileChannel out = FileChannel.open(reserved,
                Set.of(StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING))) {
            fill(out, content);
            out.force(true);
        }
        move(reserved, file);
    }

    private static void move(Path temporary, Path file) throws IOException {
        Path target = file.toAbsolutePath();
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        force(target);
    }

    /** Syncs the folder, so that the entry of the file is durable. */
    private static void force(Path target) throws IOException {
        Path folder = target.getParent();
        if (folder != null && isPosix(target)) {
            try (FileChannel entries = FileChannel.open(folder, Set.of(StandardOpenOption.READ))) {
                entries.force(true);
            }
        }
    }

    private static boolean isPosix(Path target) {
        return target.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static void fill(FileChannel out, byte[] content) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(content);
        while (left.hasRemaining()) {
            out.write(left);
        }
    }

    /** Writes a durable temporary file beside {@code target}. The caller moves or deletes it. */
    private static Path written(Path target, byte[] content, String mode) throws IOException {
        Path folder = target.getParent();
        if (folder == null) {
            throw new IOException("not a file name");
        }
        boolean posix = isPosix(target);
        // Created with 0600 in any case, so that the file is never readable for others before its final mode
        // is set.
        FileAttribute<?>[] closed = posix
                ? new FileAttribute<?>[]{
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))}
                : new FileAttribute<?>[0];
        Path temporary = Files.createTempFile(folder, "." + target.getFileName(), ".tmp", closed);
        try (FileChannel out = FileChannel.open(temporary, Set.of(StandardOpenOption.WRITE))) {
            fill(out, content);
            if (posix) {
                Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString(mode));
            }
            out.force(true);
        } catch (IOException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        return temporary;
    }
}

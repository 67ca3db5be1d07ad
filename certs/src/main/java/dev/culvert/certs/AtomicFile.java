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

/** Makes or replaces a file in one step that survives a crash. Blocks on the disk. */
public final class AtomicFile {
    private AtomicFile() {}

    /**
     * Writes, makes durable, then renames. The folder must exist.
     *
     * @param mode as {@code rw-------}; ignored where the file system has no such thing
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
     * Writes as {@link #write}, but leaves what is there as it is. The folder must exist.
     *
     * @param mode as {@code rw-------}; ignored where the file system has no such thing
     * @return false when something was there
     */
    public static boolean create(Path file, byte[] content, String mode) throws IOException {
        Path target = file.toAbsolutePath();
        Path temporary = written(target, content, mode);
        try {
            Files.createLink(target, temporary); // a rename would replace what another process has just made
            force(target);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (UnsupportedOperationException | FileSystemException e) {
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
            move(temporary, target); // a file system without links
            return true;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Puts content in a file that is there already, and the file in the place of another, in the same folder.
     *
     * @param reserved keeps its mode; gone afterwards
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

    /** Makes the folder's entry durable. */
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

    /** A durable file beside {@code target}, which the caller moves or deletes. */
    private static Path written(Path target, byte[] content, String mode) throws IOException {
        Path folder = target.getParent();
        if (folder == null) {
            throw new IOException("not a file name");
        }
        boolean posix = isPosix(target);
        // Made 0600 whatever the mode wanted: the umask could only take bits away, never a moment of readability.
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

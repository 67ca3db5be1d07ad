package dev.culvert.certs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Replaces a file in one step that survives a crash. */
final class AtomicFile {
    private AtomicFile() {}

    /**
     * Writes, makes durable, then renames. The folder must exist.
     *
     * @param mode as {@code rw-------}; ignored where the file system has no such thing
     */
    static void write(Path file, byte[] content, String mode) throws IOException {
        Path target = file.toAbsolutePath();
        Path folder = target.getParent();
        if (folder == null) {
            throw new IOException("not a file name");
        }
        boolean posix = target.getFileSystem().supportedFileAttributeViews().contains("posix");
        // Made 0600 whatever the mode wanted: the umask could only take bits away, never a moment of readability.
        FileAttribute<?>[] closed = posix
                ? new FileAttribute<?>[]{
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))}
                : new FileAttribute<?>[0];
        Path temporary = Files.createTempFile(folder, "." + target.getFileName(), ".tmp", closed);
        try {
            try (FileChannel out = FileChannel.open(temporary, Set.of(StandardOpenOption.WRITE))) {
                ByteBuffer left = ByteBuffer.wrap(content);
                while (left.hasRemaining()) {
                    out.write(left);
                }
                if (posix) {
                    Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString(mode));
                }
                out.force(true);
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
        if (posix) {
            try (FileChannel entries = FileChannel.open(folder, Set.of(StandardOpenOption.READ))) {
                entries.force(true);
            }
        }
    }
}

package dev.culvert.launcher.admin;

import dev.culvert.certs.AtomicFile;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A file for a secret, with mode 0600, which is written atomically. {@link #reserve} proves that the file can
 * be written before the secret is requested, because the server returns the secret only once. Blocks on the
 * disk.
 */
final class TokenFile {
    private final Path file;
    private final Path reserved;

    private TokenFile(Path file, Path reserved) {
        this.file = file;
        this.reserved = reserved;
    }

    /**
     * Creates an empty file beside {@code file}. An existing {@code file} stays unchanged until {@link
     * #write}.
     *
     * @throws CommandException if the folder can't be written or {@code file} is not a regular file
     */
    static TokenFile reserve(Path file) {
        Path absolute = file.toAbsolutePath();
        Path folder = absolute.getParent();
        boolean taken = Files.exists(absolute, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(absolute, LinkOption.NOFOLLOW_LINKS);
        if (taken || folder == null) {
            throw refused(file, "is no plain file (expected: a file, which is replaced, or none yet)");
        }
        try {
            return new TokenFile(file, Files.createTempFile(folder, "." + absolute.getFileName() + "-",
                    ".new",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
        } catch (IOException e) {
            throw refused(file,
                    "can't be written: " + reason(folder, e) + " (nothing was asked of the server)");
        }
    }

    /** The requested file. */
    Path file() {
        return file;
    }

    /** Writes one line and renames the file to its final name durably. */
    void write(String secret) throws IOException {
        AtomicFile.replace(reserved, file, (secret + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Deletes the reserved file if no secret was written. */
    void discard() {
        try {
            Files.deleteIfExists(reserved);
        } catch (IOException e) {
            // The file is empty, and the command has a more important error to report.
        }
    }

    private static String reason(Path folder, IOException failure) {
        if (!Files.isDirectory(folder)) {
            return folder + " is no folder";
        }
        return failure instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : "no permission in " + folder;
    }

    private static CommandException refused(Path file, String why) {
        return new CommandException(ExitCode.USAGE, "--token-file: " + file + " " + why);
    }
}

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
 * A file that will hold a secret, mode 0600, and appears whole or not at all. {@link #reserve} proves that it can be
 * written before the secret is asked for, because that is given only once. Blocks on the disk.
 */
final class TokenFile {
    private final Path file;
    private final Path reserved;

    private TokenFile(Path file, Path reserved) {
        this.file = file;
        this.reserved = reserved;
    }

    /**
     * Takes an empty file beside {@code file}; what is there stays as it is until {@link #write}.
     *
     * @throws CommandException if the folder can't be written, or something else than a file is there
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

    /** The file that was asked for. */
    Path file() {
        return file;
    }

    /** Writes one line and puts the file in its place, where it outlives a crash. */
    void write(String secret) throws IOException {
        AtomicFile.replace(reserved, file, (secret + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Leaves nothing behind, when there was nothing to write. */
    void discard() {
        try {
            Files.deleteIfExists(reserved);
        } catch (IOException e) {
            // It is empty, and the command has something more important to say.
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

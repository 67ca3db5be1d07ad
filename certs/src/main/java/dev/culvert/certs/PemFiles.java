package dev.culvert.certs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes PEM files. Files are written atomically (temporary file, fsync, rename); key files have
 * mode 0600 from their first byte. Methods block, so they must not run on an event loop. Every error is a
 * {@link CertsException} that names the file and its expected content.
 */
public final class PemFiles {
    private static final Logger LOG = LoggerFactory.getLogger(PemFiles.class);

    private PemFiles() {}

    /** Reads the certificates in {@code file} in their order, leaf first, at least one. */
    public static List<X509Certificate> readCertificates(Path file) {
        return read(file, "PEM certificates", Pem::certificates);
    }

    /**
     * Reads the private key in {@code file}: PKCS#8, SEC1 or PKCS#1 PEM without passphrase. Refuses a
     * world-writable file. Logs a warning for a world-readable file, because Kubernetes mounts secrets so by
     * default. A group may read and write, as with {@code fsGroup}.
     */
    public static PrivateKey readKey(Path file) {
        requireOwned(file);
        return read(file, "a PEM private key", Pem::privateKey);
    }

    /** Writes certificates with mode 0644. Replaces an existing file. */
    public static void writeCertificates(Path file, List<X509Certificate> certificates) {
        write(file, Pem.text(certificates), "rw-r--r--");
    }

    /** Writes a private key with mode 0600. Replaces an existing file. */
    public static void writeKey(Path file, PrivateKey key) {
        write(file, Pem.text(key), "rw-------");
    }

    private static void requireOwned(Path file) {
        Set<PosixFilePermission> modes;
        try {
            modes = Files.getPosixFilePermissions(file);
        } catch (IOException | UnsupportedOperationException e) {
            return; // reading the file reports the error; not every file system has modes
        }
        if (modes.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new CertsException(file + ": everybody may write this private key, mode "
                    + PosixFilePermissions.toString(modes) + " (expected: rw-------)");
        }
        if (modes.contains(PosixFilePermission.OTHERS_READ)) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("mode", PosixFilePermissions.toString(modes))
                    .addKeyValue("expected", "rw-------")
                    .log("a private key is world-readable");
        }
    }

    private static <T> T read(Path file, String expected, Function<String, T> parse) {
        try {
            if (Files.isRegularFile(file) && Files.size(file) > Pem.MAX_TEXT_CHARS) {
                throw new CertsException("more than " + Pem.MAX_TEXT_CHARS + " bytes");
            }
            // ISO 8859-1 decodes every byte, so that a binary file is reported as a file without a PEM block.
            return parse.apply(Files.readString(file, StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException e) {
            throw new CertsException(file + ": no such file (expected: " + expected + ")", e);
        } catch (IOException e) {
            throw new CertsException(file + ": can't be read, " + reason(e) + " (expected: " + expected + ")",
                    e);
        } catch (CertsException e) {
            throw new CertsException(file + ": " + e.getMessage(), e.getCause());
        }
    }

    private static void write(Path file, String text, String mode) {
        try {
            AtomicFile.write(file, text.getBytes(StandardCharsets.US_ASCII), mode);
        } catch (IOException e) {
            throw new CertsException(file + ": can't be written, " + reason(e), e);
        }
    }

    /** The reason in words, without the name of a class. */
    private static String reason(IOException failure) {
        return switch (failure) {
            case AccessDeniedException denied -> "no permission";
            case FileAlreadyExistsException exists -> "something else is there";
            case NoSuchFileException absent -> "no such folder";
            case FileSystemException other ->
                Objects.requireNonNullElse(other.getReason(), "the system refuses it");
            default -> Objects.requireNonNullElse(failure.getMessage(), "the system refuses it");
        };
    }
}

package dev.culvert.certs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The files of a certificate chain and its key. Methods block, so they must not run on an event loop.
 *
 * @param certificate PEM chain, leaf first
 * @param key PEM private key of the leaf
 */
public record CertificateFiles(Path certificate, Path key) {

    /**
     * Reads both files. Throws {@link CertsException} that names the file, also if key and certificate do not
     * match.
     */
    public TlsMaterial load() {
        return TlsMaterial.load(certificate, key);
    }

    /**
     * A hash of the present content of both files. It detects all kinds of changes: writes, renames, and the
     * replacement of a link in a parent folder, as Kubernetes does it. Empty if the files can't be read.
     */
    public byte[] stamp() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(content(certificate));
            digest.update((byte) 0);
            return digest.digest(content(key));
        } catch (IOException e) {
            return new byte[0];
        } catch (NoSuchAlgorithmException e) {
            throw new CertsException("this Java has no SHA-256", e);
        }
    }

    private static byte[] content(Path file) throws IOException {
        if (Files.size(file) > Pem.MAX_TEXT_CHARS) {
            throw new IOException("too large");
        }
        return Files.readAllBytes(file);
    }
}

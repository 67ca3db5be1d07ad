package dev.culvert.certs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Where a certificate chain and its key are kept. Blocks: not for event loops.
 *
 * @param certificate PEM chain, leaf first
 * @param key PEM private key of the leaf
 */
public record CertificateFiles(Path certificate, Path key) {

    /** Reads both. Throws {@link CertsException} naming the file, also when the two do not fit. */
    public TlsMaterial load() {
        return TlsMaterial.load(certificate, key);
    }

    /**
     * A hash of what is in both files now, to see changes however they come about: by writing, renaming, or by
     * swapping a link some folders above, as Kubernetes does. Empty when they can't be read.
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

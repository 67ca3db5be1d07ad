package dev.culvert.appproxy.credentials;

import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** The keys of token encryption: the first encrypts, all decrypt. Prints without the keys. */
final class TokenKeys {
    static final int KEY_BYTES = 32;
    static final int MAX_KEYS = 16;

    private static final Set<PosixFilePermission> OWNERS = Set.of(PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE);

    private final List<SecretKey> keys;

    private TokenKeys(List<SecretKey> keys) {
        this.keys = List.copyOf(keys);
    }

    /** Parses one key in each line, in base64. Throws IOException, naming {@code where}, for other text. */
    static TokenKeys parse(String text, String where) throws IOException {
        List<String> lines = text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
        if (lines.isEmpty() || lines.size() > MAX_KEYS) {
            throw wrong(where);
        }
        try {
            List<byte[]> raw = lines.stream().map(line -> Base64.getDecoder().decode(line)).toList();
            if (raw.stream().anyMatch(key -> key.length != KEY_BYTES)) {
                throw wrong(where);
            }
            return new TokenKeys(raw.stream().map(key -> (SecretKey) new SecretKeySpec(key, "AES")).toList());
        } catch (IllegalArgumentException e) {
            throw wrong(where);
        }
    }

    /** Reads keys from a file with mode 0600. Creates it with a new key when absent. Blocks. */
    static TokenKeys load(Path file) throws IOException {
        if (Files.notExists(file)) {
            AtomicFile.create(file, (fresh() + "\n").getBytes(StandardCharsets.US_ASCII), "rw-------");
        }
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        if (posix && !OWNERS.containsAll(Files.getPosixFilePermissions(file))) {
            throw new IOException(
                    file + ": others can read it (expected: mode 0600; chmod 600, and rotate the key)");
        }
        return parse(Files.readString(file, StandardCharsets.US_ASCII), file.toString());
    }

    SecretKey current() {
        return keys.get(0);
    }

    List<SecretKey> all() {
        return keys;
    }

    private static String fresh() {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return Base64.getEncoder().encodeToString(key);
    }

    private static IOException wrong(String where) {
        return new IOException(where + ": no keys (expected: 1.." + MAX_KEYS
                + " lines, each 32 bytes in base64, as `openssl rand -base64 32` prints)");
    }
}

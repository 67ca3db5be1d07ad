package dev.culvert.platform.directory.wrapping;

import dev.culvert.certs.AtomicFile;
import dev.culvert.platform.directory.wrapping.WrappingException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Wraps by keys of AES-256-GCM in a file of mode 0600: one a line, in base64. The first wraps, all unwrap.
 * The file is read again for each use, so a new one is in force at once; uses are rare.
 */
public final class WrappingKeyFile implements KeyWrapping {
    /** The maximum number of keys in a file. */
    static final int MAX_KEYS = 16;

    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final int ID_DIGITS = 16;
    private static final int MAX_FILE_BYTES = 16 << 10;
    private static final String OWNERS_ALONE = "rw-------";
    private static final Set<PosixFilePermission> OWNERS = Set.of(PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path file;

    public WrappingKeyFile(Path file) {
        this.file = file;
    }

    /** A key; prints as its id. */
    private record Key(String id, SecretKeySpec secret) {
        static Key of(byte[] raw) {
            if (raw.length != KEY_BYTES) {
                throw new IllegalArgumentException("a key of another length");
            }
            return new Key(idOf(raw), new SecretKeySpec(raw, "AES"));
        }

        @Override
        public String toString() {
            return id;
        }
    }

    @Override
    public void begin(boolean first) {
        if (first && Files.notExists(file)) {
            make();
        }
        keys();
    }

    @Override
    public String keyId() {
        return keys().getFirst().id();
    }

    @Override
    public Wrapped wrap(byte[] secret, String name, String keyId) {
        Key key = key(keyId);
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, nonce, name).doFinal(secret);
            byte[] both = ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed).array();
            return new Wrapped(key.id(), Base64.getEncoder().encodeToString(both));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has AES-GCM", e);
        }
    }

    @Override
    public byte[] unwrap(Wrapped wrapped, String name) {
        Key key = key(wrapped.keyId());
        try {
            byte[] both = Base64.getDecoder().decode(wrapped.text());
            if (both.length < NONCE_BYTES) {
                throw changed(name);
            }
            byte[] nonce = new byte[NONCE_BYTES];
            System.arraycopy(both, 0, nonce, 0, NONCE_BYTES);
            return cipher(Cipher.DECRYPT_MODE, key, nonce, name)
                    .doFinal(both, NONCE_BYTES, both.length - NONCE_BYTES);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw changed(name);
        }
    }

    /** Puts a new key before the present ones; the oldest that is not used is dropped where 16 are there. */
    @Override
    public synchronized String renew(Set<String> used) {
        List<Key> kept = new ArrayList<>(keys());
        for (int i = kept.size() - 1; i >= 0 && kept.size() >= MAX_KEYS; i--) {
            if (!used.contains(kept.get(i).id())) {
                kept.remove(i);
            }
        }
        if (kept.size() >= MAX_KEYS) {
            throw unusable("has " + MAX_KEYS + " keys, and all are used (expected: room for another one)");
        }
        byte[] made = fresh();
        var lines = new ArrayList<String>();
        lines.add(line(made));
        kept.forEach(key -> lines.add(line(key.secret().getEncoded())));
        try {
            AtomicFile.write(file, String.join("", lines).getBytes(StandardCharsets.US_ASCII), OWNERS_ALONE);
        } catch (IOException e) {
            throw unusable("can't be written (expected: a folder of the control plane's own)");
        }
        return idOf(made);
    }

    private void make() {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) {
                Files.createDirectories(folder);
            }
            AtomicFile.create(file, line(fresh()).getBytes(StandardCharsets.US_ASCII), OWNERS_ALONE);
        } catch (IOException e) {
            throw unusable("can't be made (expected: a folder that the control plane may write)");
        }
    }

    private Key key(String id) {
        return keys().stream()
                .filter(known -> known.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new WrappingException(Kind.UNKNOWN_KEY,
                        file + " does not hold the key " + id));
    }

    private List<Key> keys() {
        if (Files.notExists(file)) {
            throw new WrappingException(Kind.ABSENT, file + " is not there");
        }
        try {
            boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
            if (posix && !OWNERS.containsAll(Files.getPosixFilePermissions(file))) {
                throw unusable("can be read by others (expected: mode 0600; chmod 600, and add a new key)");
            }
            if (Files.size(file) > MAX_FILE_BYTES) {
                throw noKeys();
            }
            List<Key> keys = Files.readString(file, StandardCharsets.US_ASCII)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .map(line -> Base64.getDecoder().decode(line))
                    .map(Key::of)
                    .toList();
            if (keys.isEmpty() || keys.size() > MAX_KEYS) {
                throw noKeys();
            }
            return keys;
        } catch (IOException e) {
            throw unusable("can't be read");
        } catch (IllegalArgumentException e) {
            throw noKeys();
        }
    }

    private static Cipher cipher(int mode, Key key, byte[] nonce, String name)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key.secret(), new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(name.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    private static byte[] fresh() {
        byte[] key = new byte[KEY_BYTES];
        RANDOM.nextBytes(key);
        return key;
    }

    private static String line(byte[] key) {
        return Base64.getEncoder().encodeToString(key) + "\n";
    }

    /** A digest of a key of 256 random bits tells nothing about it. */
    private static String idOf(byte[] key) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(key))
                    .substring(0, ID_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private WrappingException noKeys() {
        return unusable("holds no keys (expected: 1.." + MAX_KEYS
                + " lines, each 32 bytes in base64, as `openssl rand -base64 32` prints)");
    }

    private WrappingException unusable(String why) {
        return new WrappingException(Kind.UNUSABLE, file + " " + why);
    }

    private WrappingException changed(String name) {
        return new WrappingException(Kind.UNUSABLE,
                "the wrapped secret " + name + " is damaged, or another one's");
    }
}

package dev.culvert.appproxy.credentials;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encrypts tokens: AES-256-GCM with a random nonce of 96 bits for each record (NIST SP 800-38D §8.2.2; far
 * below its bound of 2^32 records for a key). A record is bound to its place, so it can't be moved to another
 * user.
 */
final class TokenCipher {
    private static final String ALGORITHM = "AES/GCM/NoPadding";
    private static final byte VERSION = 1;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final TokenKeys keys;
    private final SecureRandom random = new SecureRandom();

    TokenCipher(TokenKeys keys) {
        this.keys = keys;
    }

    /** Returns a record in base64: version, nonce, cipher text with tag. */
    String encrypt(TokenPlace place, GitToken token) throws GeneralSecurityException {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        byte[] plain = (token.login() + "\n" + token.value()).getBytes(StandardCharsets.UTF_8);
        byte[] sealed = cipher(Cipher.ENCRYPT_MODE, keys.current(), nonce, place).doFinal(plain);
        byte[] record = new byte[1 + NONCE_BYTES + sealed.length];
        record[0] = VERSION;
        System.arraycopy(nonce, 0, record, 1, NONCE_BYTES);
        System.arraycopy(sealed, 0, record, 1 + NONCE_BYTES, sealed.length);
        return Base64.getEncoder().encodeToString(record);
    }

    /**
     * Returns the token. Throws when no key decrypts the record, or when it belongs to another place or was
     * changed.
     */
    GitToken decrypt(TokenPlace place, String record) throws GeneralSecurityException {
        for (SecretKey key : keys.all()) {
            try {
                return decrypt(key, place, record);
            } catch (AEADBadTagException e) {
                // Try the next key.
            }
        }
        throw new AEADBadTagException("no key fits this record, or it was changed");
    }

    /** Whether the first key encrypted the record. */
    boolean isCurrent(TokenPlace place, String record) throws GeneralSecurityException {
        try {
            decrypt(keys.current(), place, record);
            return true;
        } catch (AEADBadTagException e) {
            return false;
        }
    }

    private static GitToken decrypt(SecretKey key, TokenPlace place, String text)
            throws GeneralSecurityException {
        byte[] record = decoded(text);
        if (record.length <= 1 + NONCE_BYTES || record[0] != VERSION) {
            throw new GeneralSecurityException("no record of version 1");
        }
        byte[] nonce = new byte[NONCE_BYTES];
        System.arraycopy(record, 1, nonce, 0, NONCE_BYTES);
        byte[] plain = cipher(Cipher.DECRYPT_MODE, key, nonce, place).doFinal(record, 1 + NONCE_BYTES,
                record.length - 1 - NONCE_BYTES);
        String both = new String(plain, StandardCharsets.UTF_8);
        int end = both.indexOf('\n');
        return new GitToken(both.substring(0, end), both.substring(end + 1));
    }

    private static byte[] decoded(String text) throws GeneralSecurityException {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException("a record is not base64", e);
        }
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, TokenPlace place)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(ALGORITHM);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(place.bytes());
        return cipher;
    }
}

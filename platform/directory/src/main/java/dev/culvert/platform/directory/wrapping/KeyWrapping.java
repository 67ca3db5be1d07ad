package dev.culvert.platform.directory.wrapping;

import java.util.Set;

/**
 * Wraps secrets, so that whoever has the database or a backup of it can't use them. The keys that wrap are in
 * a file, or in a service that never gives them away. Every method may block; callable from any thread.
 */
public interface KeyWrapping {
    /**
     * Prepares the keys. Throws {@link WrappingException}.
     *
     * @param first whether nothing is wrapped yet, so that a missing key may be made
     */
    void begin(boolean first);

    /** The id of the key that wraps now. It tells nothing about the key. Throws {@link WrappingException}. */
    String keyId();

    /**
     * Makes a new key that wraps from now on; those of before still unwrap. Returns its id. Throws {@link
     * WrappingException}, also where keys are renewed elsewhere.
     *
     * @param used the ids of the keys that wrap a secret which is kept; they are not dropped for the new one
     */
    String renew(Set<String> used);

    /**
     * Wraps a secret under a name, which is authenticated with it. Throws {@link WrappingException}.
     *
     * @param name the secret's own: the same wrapped text under another name is refused
     */
    default Wrapped wrap(byte[] secret, String name) {
        return wrap(secret, name, keyId());
    }

    /**
     * As above, by a key that need not be the present one.
     *
     * @param keyId the id of the key
     */
    Wrapped wrap(byte[] secret, String name, String keyId);

    /** The secret. Throws {@link WrappingException} when the key is not there, or the text was changed. */
    byte[] unwrap(Wrapped wrapped, String name);

    /**
     * A wrapped secret.
     *
     * @param keyId the id of the key that wrapped it
     * @param text it and what it takes to unwrap it, in base64
     */
    record Wrapped(String keyId, String text) {}
}

package dev.culvert.platform.runtimes.store;

import dev.culvert.platform.host.spi.SecretWrapping;

/**
 * The secrets of runtimes, which the tables hold wrapped. Every method reads the file of the keys, so it
 * blocks, and throws {@link SecretWrapping.Failed}.
 */
public final class RuntimeSecrets {
    private final SecretWrapping wrapping;

    public RuntimeSecrets(SecretWrapping wrapping) {
        this.wrapping = wrapping;
    }

    /** Wraps a key with which a cluster encrypts its Git tokens. */
    public String wrapStoreKey(String account, String name, String storeKey, String by) {
        return wrapping.wrap(storeKey, nameOf("storeKey", account, name), by);
    }

    /** The key with which a cluster encrypts its Git tokens. */
    public String storeKey(String account, String name, String wrapped) {
        return wrapping.unwrap(wrapped, nameOf("storeKey", account, name));
    }

    /** Wraps the hash of a credential. */
    public Credential wrap(String account, String name, Credential credential, String by) {
        return credential.withHash(wrapping.wrap(credential.hash(), nameOf("credential", account, name), by));
    }

    /** Unwraps the hash of a credential. */
    public Credential unwrap(String account, String name, Credential wrapped) {
        return wrapped.withHash(wrapping.unwrap(wrapped.hash(), nameOf("credential", account, name)));
    }

    private static String nameOf(String secret, String account, String runtime) {
        return "runtimes " + secret + " " + account + "/" + runtime;
    }
}

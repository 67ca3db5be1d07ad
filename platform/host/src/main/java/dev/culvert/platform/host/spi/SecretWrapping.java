package dev.culvert.platform.host.spi;

import reactor.core.publisher.Mono;

/**
 * Wraps the secrets that modules store, so that whoever has the database or a backup of it can't use them:
 * the keys that wrap are in {@code tokenKeys.file}. Callable from any thread.
 */
public interface SecretWrapping {
    /**
     * The id of the key in force, which every process of the database has. It tells nothing about the key.
     * Always emits a value. Errors: {@link dev.culvert.store.StoreException}.
     */
    Mono<String> key();

    /**
     * Wraps a secret. Blocks. Throws {@link Failed}.
     *
     * @param name the secret's own: its wrapped text is refused under another name
     * @param key the id of the key
     */
    String wrap(String secret, String name, String key);

    /** The secret of a wrapped text, or a text that was never wrapped. Blocks. Throws {@link Failed}. */
    String unwrap(String text, String name);

    /** What all texts begin with that a key wraps, and no other text. */
    String prefix(String key);

    /** The keys can't be read, or a text can't be unwrapped. The message is for operators. */
    final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Failed(String message) {
            super(message, null, false, false);
        }
    }
}

package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.wrapping.KeyWrapping;
import dev.culvert.platform.directory.wrapping.KeyWrapping.Wrapped;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Wraps the secrets of other modules as texts, {@code wrapped:<key id>:<base64>}. The key in force is the one
 * that wraps the newest key of runtime tokens: a rotation brings a new one into force, when all processes
 * have it.
 */
public final class WrappedTexts implements SecretWrapping {
    private static final String WRAPPED = "wrapped:";

    private final Store store;
    private final KeyWrapping wrapping;

    public WrappedTexts(Store store, KeyWrapping wrapping) {
        this.store = store;
        this.wrapping = wrapping;
    }

    @Override
    public Mono<String> key() {
        return store.read(connection -> TokenKeyTable.all(connection))
                .map(keys -> keys.stream()
                        .reduce((first, second) -> second)
                        .orElseThrow(() -> new Failed("there is no key of runtime tokens"))
                        .wrapped()
                        .keyId());
    }

    @Override
    public String wrap(String secret, String name, String key) {
        return prefix(key)
                + tried(() -> wrapping.wrap(secret.getBytes(StandardCharsets.UTF_8), name, key)).text();
    }

    @Override
    public String unwrap(String text, String name) {
        String[] parts = text.split(":", 3);
        if (!text.startsWith(WRAPPED) || parts.length < 3) {
            return text;
        }
        var wrapped = new Wrapped(parts[1], parts[2]);
        return new String(tried(() -> wrapping.unwrap(wrapped, name)), StandardCharsets.UTF_8);
    }

    @Override
    public String prefix(String key) {
        return WRAPPED + key + ":";
    }

    private static <T> T tried(Supplier<T> work) {
        try {
            return work.get();
        } catch (WrappingException e) {
            throw new Failed(String.valueOf(e.getMessage()));
        }
    }
}

package dev.culvert.appproxy.credentials;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/** The source of keys and records. All calls block. */
interface TokenVault {
    TokenKeys keys() throws IOException;

    TokenStore store() throws IOException;

    /** Makes the vault of a configuration. Reads nothing yet. */
    static TokenVault of(TokensConfig config) {
        String namespace = config.namespace();
        return namespace == null
                ? files(config)
                : new KubernetesTokenVault(namespace, config.keyFile(), config.keySecret());
    }

    private static TokenVault files(TokensConfig config) {
        Path folder = Objects.requireNonNull(config.folder());
        Path keyFile = Objects.requireNonNull(config.keyFile());
        return new TokenVault() {
            @Override
            public TokenKeys keys() throws IOException {
                return TokenKeys.load(keyFile);
            }

            @Override
            public TokenStore store() {
                return new FileTokenStore(folder);
            }
        };
    }
}

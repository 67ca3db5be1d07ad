package dev.culvert.platform.host.spi;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What an account has set for its Git repositories. Without a module that keeps it, nothing is set. */
public interface AccountSettings {
    /** The settings of an account. Always emits a value. Errors: {@link dev.culvert.store.StoreException}. */
    Mono<GitSettings> of(String account);

    /**
     * The settings.
     *
     * @param gitProvider the kind of its Git provider, as {@code GITHUB}
     * @param gitApiUrl the URL of the provider's API
     * @param sharedConfigRepo the URL of the repository with its shared configuration
     */
    record GitSettings(@Nullable String gitProvider, @Nullable String gitApiUrl,
            @Nullable String sharedConfigRepo) {
        /** Nothing is set. */
        public static final GitSettings NONE = new GitSettings(null, null, null);

        /** Whether all is set. */
        public boolean isComplete() {
            return gitProvider != null && gitApiUrl != null && sharedConfigRepo != null;
        }
    }
}

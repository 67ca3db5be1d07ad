package dev.culvert.appproxy.repositories.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.appproxy.credentials.GitToken;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Caches replies for conditional requests with their validator. Users do not share replies. */
final class KnownReplies {
    /** The maximum size for one provider: about fifty pages of a hundred repositories. */
    static final int MAX_BYTES = 32 << 20;

    /** The cost of an entry besides its body. */
    private static final int ENTRY_BYTES = 1024;

    private final Cache<String, ProviderReply> replies = Caffeine.newBuilder()
            .maximumWeight(MAX_BYTES)
            .weigher((String key, ProviderReply reply) -> reply.bytes() + ENTRY_BYTES)
            .expireAfterAccess(Duration.ofMinutes(30))
            .executor(Runnable::run)
            .build();

    @Nullable
    ProviderReply of(GitToken token, URI url) {
        return replies.getIfPresent(key(token, url));
    }

    /**
     * The reply to use: the cached one if it is still valid (304), otherwise the new one, which is then
     * cached.
     */
    ProviderReply seen(GitToken token, URI url, @Nullable ProviderReply before, ProviderReply reply) {
        if (reply.status() == 304 && before != null) {
            return before;
        }
        if (reply.status() == 200 && reply.tag() != null) {
            replies.put(key(token, url), reply);
        }
        return reply;
    }

    long bytes() {
        return replies.policy().eviction().map(bound -> bound.weightedSize().orElse(0)).orElse(0L);
    }

    private static String key(GitToken token, URI url) {
        return token.fingerprint() + " " + url;
    }
}

package dev.culvert.appproxy.repositories.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.appproxy.credentials.GitToken;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Replies that can be asked for again with their validator. One user's are never another's. */
final class KnownReplies {
    /** For one provider; about fifty pages of a hundred repositories. */
    static final int MAX_BYTES = 32 << 20;

    /** What an entry costs beside its body. */
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

    /** The reply to work with: the known one when it still holds, else the new one, which is known from now on. */
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

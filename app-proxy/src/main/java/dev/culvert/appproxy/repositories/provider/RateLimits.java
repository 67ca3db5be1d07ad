package dev.culvert.appproxy.repositories.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.appproxy.credentials.GitToken;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Tracks until when a provider refuses further calls with a token, as its responses report. Bounded. */
final class RateLimits {
    static final int MAX_TOKENS = 10_000;

    /** The wait if the provider reports no time. */
    private static final Duration UNTOLD = Duration.ofSeconds(60);
    private static final Duration LONGEST = Duration.ofHours(1);

    private final InstantSource clock;
    private final Cache<String, Instant> until = Caffeine.newBuilder()
            .maximumSize(MAX_TOKENS)
            .expireAfterWrite(LONGEST)
            .executor(Runnable::run)
            .build();

    RateLimits() {
        this(InstantSource.system());
    }

    RateLimits(InstantSource clock) {
        this.clock = clock;
    }

    /** The remaining wait of a token; zero: none. */
    Duration left(GitToken token) {
        Instant end = until.getIfPresent(token.fingerprint());
        Duration left = end == null ? Duration.ZERO : Duration.between(clock.instant(), end);
        return left.isPositive() ? left : Duration.ZERO;
    }

    /** Records a response. Returns the wait before the call is repeated, or null when it was not refused. */
    @Nullable
    Duration seen(GitToken token, ProviderReply reply) {
        boolean spent = "0".equals(reply.field("X-RateLimit-Remaining"));
        boolean refused = reply.status() == 429
                || (reply.status() == 403 && (spent || reply.field("Retry-After") != null));
        if (!refused && !spent) {
            return null;
        }
        Duration wait = wait(reply, refused);
        if (wait.isPositive()) {
            until.put(token.fingerprint(), clock.instant().plus(wait));
        }
        return refused ? wait : null;
    }

    long size() {
        until.cleanUp();
        return until.estimatedSize();
    }

    private Duration wait(ProviderReply reply, boolean refused) {
        Long after = number(reply.field("Retry-After"));
        String resetField = reply.field("X-RateLimit-Reset");
        Long reset = number(resetField == null ? reply.field("RateLimit-Reset") : resetField);
        Duration wait = after != null
                ? Duration.ofSeconds(after)
                : reset != null
                        ? Duration.between(clock.instant(), Instant.ofEpochSecond(reset))
                        : refused ? UNTOLD : Duration.ZERO;
        Duration least = wait.isNegative() ? Duration.ZERO : wait;
        return least.compareTo(LONGEST) > 0 ? LONGEST : least;
    }

    private static @Nullable Long number(@Nullable String field) {
        return field != null && field.matches("\\d{1,12}") ? Long.valueOf(field) : null;
    }
}

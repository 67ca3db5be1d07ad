package dev.culvert.server.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Admission;
import dev.culvert.server.access.BearerToken.Judgement;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The threads that verify signatures and certificates, and the cache of results. Callable from any thread.
 */
final class Verifications {
    /** The maximum number of queued verifications. Beyond it, requests are refused. */
    private static final int MAX_QUEUED = 1000;
    private static final int MAX_REMEMBERED = 10_000;
    /** Tokens and certificates are verified again after this time at the latest. */
    private static final Duration REMEMBERED = Duration.ofMinutes(5);
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);

    private final Clock clock;
    private final Scheduler scheduler = Schedulers.newBoundedElastic(
            Runtime.getRuntime().availableProcessors(), MAX_QUEUED, "culvert-access", 60, true);
    private final Cache<Key, Object> remembered = Caffeine.newBuilder()
            .maximumSize(MAX_REMEMBERED)
            .expireAfterWrite(REMEMBERED)
            .executor(scheduler::schedule)
            .build();

    Verifications(Clock clock) {
        this.clock = clock;
    }

    /** The key of a result: the admission, and the hash of the secret. */
    record Key(Admission by, ByteBuffer hash) {}

    static Key key(Admission by, String secret) {
        return key(by, secret.getBytes(StandardCharsets.UTF_8));
    }

    static Key key(Admission by, byte[] secret) {
        try {
            return new Key(by, ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(secret)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Instant now() {
        return clock.instant();
    }

    Judgement.@Nullable Valid token(Key key) {
        return remembered.getIfPresent(key) instanceof Judgement.Valid valid ? valid : null;
    }

    CertificateAdmission.@Nullable Verified certificate(Key key) {
        return remembered.getIfPresent(key) instanceof CertificateAdmission.Verified verified
                ? verified
                : null;
    }

    void remember(Key key, Judgement judgement) {
        if (judgement instanceof Judgement.Valid) {
            remembered.put(key, judgement);
        }
    }

    void remember(Key key, CertificateAdmission.Verified verified) {
        remembered.put(key, verified);
    }

    /** The refusal of a request whose credentials can't be judged. */
    static Problem undecided(Throwable failed, String otherwise, Duration retry) {
        return failed instanceof RejectedExecutionException
                ? Problem.of(Cause.OVERLOADED, Hop.EDGE, "too many requests wait to be let in")
                        .retryAfter(RETRY_OVERLOADED)
                : Problem.of(Cause.OVERLOADED, Hop.EDGE, otherwise).retryAfter(retry);
    }

    void close() {
        scheduler.dispose();
    }
}

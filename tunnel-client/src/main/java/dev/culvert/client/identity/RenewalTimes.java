package dev.culvert.client.identity;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * Computes when a client's certificate is renewed: at two thirds of its life, with a random shift to earlier
 * times, so that clients that enrolled together do not renew together. Thread-safe if its random generator
 * is.
 */
public final class RenewalTimes {
    private static final double EARLIEST = 0.62;
    private static final double LATEST = 0.67;
    /**
     * The validity of certificates starts this long before their issue, to tolerate different clocks
     * (docs/enrolment.md).
     */
    private static final Duration BACKDATED = Duration.ofMinutes(5);
    /** Spreads the renewals of clients that were off at the same time. */
    private static final Duration SPREAD = Duration.ofSeconds(10);
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY = Duration.ofMinutes(5);
    /** The retry interval after a refusal, as the contract specifies. */
    private static final Duration REFUSED_RETRY = Duration.ofSeconds(60);

    private final Clock clock;
    private final RandomGenerator random;
    private final Backoff backoff;

    public RenewalTimes(Clock clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
        this.backoff = new Backoff(random);
    }

    /**
     * The time until a certificate of any age is renewed: at two thirds of its life, or soon if that time has
     * passed.
     */
    public Duration ofStored(Identity identity) {
        Instant begins = identity.begins().plus(BACKDATED);
        Instant made = begins.isBefore(identity.expires()) ? begins : identity.begins();
        Duration life = Duration.between(made, identity.expires());
        Duration wait = Duration.between(clock.instant(), made.plus(part(life)));
        return wait.isPositive() ? wait : upTo(shorter(SPREAD, left(identity).dividedBy(10)));
    }

    /**
     * The time until a just issued certificate is renewed. Based on the remaining validity, so that a client
     * with a fast clock does not renew more often.
     */
    public Duration ofNew(Identity identity) {
        return longer(SHORTEST, part(left(identity)));
    }

    /**
     * The time until the next attempt: a tenth of the remaining validity within bounds, half of it random,
     * and not before the server permits.
     */
    public Duration afterFailure(Identity identity, Throwable error) {
        if (error instanceof EnrolmentException.Refused) {
            return REFUSED_RETRY;
        }
        return backoff.noSooner(again(identity), error);
    }

    /**
     * The time until a certificate that a session did not accept is proven to it again: a minute after a
     * refusal. If it could not be judged, or not be sent, at most that, and a tenth of the remaining validity
     * of {@code accepted}, so that several attempts fit into it.
     *
     * @param accepted the identity that the session uses
     */
    Duration afterProof(Identity accepted, boolean refused) {
        Duration minute = backoff.afterRefusal();
        return refused ? minute : shorter(minute, again(accepted));
    }

    /** A tenth of the remaining validity within bounds, half of it random. */
    private Duration again(Identity identity) {
        Duration tenth = shorter(LONGEST_RETRY, longer(SHORTEST, left(identity).dividedBy(10)));
        return tenth.dividedBy(2).plus(upTo(tenth.dividedBy(2)));
    }

    private Duration left(Identity identity) {
        return longer(Duration.ZERO, Duration.between(clock.instant(), identity.expires()));
    }

    private Duration part(Duration whole) {
        return Duration.ofMillis((long) (whole.toMillis() * random.nextDouble(EARLIEST, LATEST)));
    }

    private Duration upTo(Duration most) {
        return Duration.ofMillis(random.nextLong(most.toMillis() + 1));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}

package dev.culvert.client.identity;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * When a client's certificate is renewed: at two thirds of its life, a little earlier so that clients who enrolled together
 * do not renew together. Thread-safe if its random numbers are.
 */
public final class RenewalTimes {
    private static final double EARLIEST = 0.62;
    private static final double LATEST = 0.67;
    /** Certificates begin so long before they are made, so that clocks may differ (docs/enrolment.md). */
    private static final Duration BACKDATED = Duration.ofMinutes(5);
    /** Clients that were off together, and are late together, do not ask together. */
    private static final Duration SPREAD = Duration.ofSeconds(10);
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY = Duration.ofMinutes(5);
    /** The contract's slow loop for what is refused. */
    private static final Duration REFUSED_RETRY = Duration.ofSeconds(60);

    private final Clock clock;
    private final RandomGenerator random;
    private final Backoff backoff;

    public RenewalTimes(Clock clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
        this.backoff = new Backoff(random);
    }

    /** Until one is renewed that may be of any age: at two thirds of its whole life, and soon when that is past. */
    public Duration ofStored(Identity identity) {
        Instant begins = identity.begins().plus(BACKDATED);
        Instant made = begins.isBefore(identity.expires()) ? begins : identity.begins();
        Duration life = Duration.between(made, identity.expires());
        Duration wait = Duration.between(clock.instant(), made.plus(part(life)));
        return wait.isPositive() ? wait : upTo(shorter(SPREAD, left(identity).dividedBy(10)));
    }

    /** Until one is renewed that was made just now. Counts from what is left: a clock that is fast asks no more often than that. */
    public Duration ofNew(Identity identity) {
        return longer(SHORTEST, part(left(identity)));
    }

    /** Until it is tried again: a tenth of what is left, within bounds, half of it random; no sooner than the server asks. */
    public Duration afterFailure(Identity identity, Throwable error) {
        if (error instanceof EnrolmentException.Refused) {
            return REFUSED_RETRY;
        }
        Duration tenth = shorter(LONGEST_RETRY, longer(SHORTEST, left(identity).dividedBy(10)));
        Duration own = tenth.dividedBy(2).plus(upTo(tenth.dividedBy(2)));
        return backoff.noSooner(own, error);
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

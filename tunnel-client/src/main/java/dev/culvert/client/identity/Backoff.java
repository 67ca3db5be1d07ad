package dev.culvert.client.identity;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait before the next dial: at once (within 200 ms) the first time after a session, then full jitter from
 * 500 ms doubling to 15 s. A session that held for 25 s starts the count anew. Used by one
 * thread at a time.
 */
public final class Backoff {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration BASE = Duration.ofMillis(500);
    private static final Duration CAP = Duration.ofSeconds(15);
    /** A session that lives this long was not part of the trouble. */
    private static final Duration STABLE = Duration.ofSeconds(25);
    /** One that lived this long is missed: the first try after it goes out at once, the next ones go on with the count. */
    private static final Duration SERVED = Duration.ofSeconds(1);
    /** 500 ms doubled this often is past the cap. */
    private static final int MAX_DOUBLINGS = 5;
    /** A refused identity does not get better by asking more often. */
    private static final Duration REFUSED = Duration.ofSeconds(60);
    /** A server that asks for more patience is not believed. */
    public static final Duration MAX_ASKED = Duration.ofSeconds(60);
    /** Servers name whole seconds: those who were told the same one do not come back together. */
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final Duration LIFE = Duration.ofHours(2);

    private final RandomGenerator random;
    private int failures;

    public Backoff(RandomGenerator random) {
        this.random = random;
    }

    /** A session ended that had lived for {@code lifetime}; zero when none was opened. */
    public Duration afterLoss(Duration lifetime) {
        served(lifetime);
        if (failures == 0 || lifetime.compareTo(SERVED) >= 0) {
            failures = Math.max(failures, 1);
            return upTo(FIRST);
        }
        long ceiling = Math.min(CAP.toMillis(), BASE.toMillis() << Math.min(failures - 1, MAX_DOUBLINGS));
        failures++;
        return upTo(Duration.ofMillis(ceiling));
    }

    /** A session has lived for {@code lifetime}: a stable one starts the count anew. */
    public void served(Duration lifetime) {
        if (lifetime.compareTo(STABLE) >= 0) {
            failures = 0;
        }
    }

    /** The server wants this client back after {@code asked}, not before; it is not believed beyond a minute. */
    public Duration afterOverload(Duration asked) {
        afterLoss(Duration.ZERO); // should the next dial fail in another way, it is not the first
        return shorter(asked, MAX_ASKED).plus(upTo(SECOND));
    }

    /** An attempt to enrol failed for a reason that may pass. */
    Duration afterEnrolment(Throwable failure) {
        return noSooner(afterLoss(Duration.ZERO), failure);
    }

    /** A wait of the client's own choice, or longer if that is what the server asked for as it failed; believed up to a minute. */
    Duration noSooner(Duration own, Throwable failure) {
        Duration asked = failure instanceof EnrolmentException.Failed failed ? failed.retryAfter() : null;
        if (asked == null) {
            return own;
        }
        Duration wanted = shorter(asked, MAX_ASKED).plus(upTo(SECOND));
        return own.compareTo(wanted) > 0 ? own : wanted;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** The server does not accept this client's identity. */
    public Duration afterRefusal() {
        return REFUSED.plus(upTo(Duration.ofSeconds(6)));
    }

    /** Another instance of this client owns the runtime: look again after {@code wait} to twice that, without taking over. */
    public Duration afterConflict(Duration wait) {
        return wait.plus(upTo(wait));
    }

    /** How long a connection serves before another takes its place: 2 h, a tenth more or less. */
    public Duration lifeOfAConnection() {
        long tenth = LIFE.toMillis() / 10;
        return LIFE.plusMillis(random.nextLong(-tenth, tenth + 1));
    }

    private Duration upTo(Duration most) {
        return Duration.ofMillis(random.nextLong(most.toMillis() + 1));
    }
}

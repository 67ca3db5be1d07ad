package dev.culvert.client.identity;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Computes the wait before the next dial. The first dial after a session follows at once (within 200 ms).
 * Further waits have full jitter, with a maximum that doubles from 500 ms to 15 s. A session that lasted for
 * 25 s resets the count. Used by one thread at a time.
 */
public final class Backoff {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration BASE = Duration.ofMillis(500);
    private static final Duration CAP = Duration.ofSeconds(15);
    /** A session that lasted this long resets the count. */
    private static final Duration STABLE = Duration.ofSeconds(25);
    /**
     * After a session that lasted this long the first dial follows at once. Further dials continue the count.
     */
    private static final Duration SERVED = Duration.ofSeconds(1);
    /** 500 ms doubled this many times exceeds the maximum. */
    private static final int MAX_DOUBLINGS = 5;
    /** The wait after a refused identity: more frequent attempts do not help. */
    private static final Duration REFUSED = Duration.ofSeconds(60);
    /** The maximum wait that a server can request. */
    public static final Duration MAX_ASKED = Duration.ofSeconds(60);
    /**
     * Servers state whole seconds. This spread prevents clients that received the same value from returning
     * together.
     */
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final RandomGenerator random;
    private int failures;

    public Backoff(RandomGenerator random) {
        this.random = random;
    }

    /** The wait after a session that lasted for {@code lifetime}; zero if no session was opened. */
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

    /** Records that a session has lasted for {@code lifetime}. A stable session resets the count. */
    public void served(Duration lifetime) {
        if (lifetime.compareTo(STABLE) >= 0) {
            failures = 0;
        }
    }

    /** The wait after an overloaded server asked to wait for {@code asked}, limited to one minute. */
    public Duration afterOverload(Duration asked) {
        afterLoss(Duration.ZERO); // so that a different failure of the next dial does not count as the first
        return shorter(asked, MAX_ASKED).plus(upTo(SECOND));
    }

    /** The wait after an enrolment attempt that failed for a temporary reason. */
    Duration afterEnrolment(Throwable failure) {
        return noSooner(afterLoss(Duration.ZERO), failure);
    }

    /**
     * The client's own wait, or the longer one that the server requested in {@code failure}, limited to one
     * minute.
     */
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

    /** The wait after the server has refused this client's identity. */
    public Duration afterRefusal() {
        return REFUSED.plus(upTo(Duration.ofSeconds(6)));
    }

    /**
     * The wait while another instance of this client owns the runtime: {@code wait} to twice that. The client
     * then does not take over.
     */
    public Duration afterConflict(Duration wait) {
        return wait.plus(upTo(wait));
    }

    /**
     * The wait before an instance dials a session that waits for the owner to go. Longer than the first wait
     * of an owner that has lost its sessions as well, so that it comes first.
     */
    public Duration beforeStandby() {
        return SECOND.plus(upTo(SECOND));
    }

    /**
     * The life of a connection before it is replaced: {@code life}, plus or minus a tenth, so that clients
     * that connected together do not reconnect together.
     */
    public Duration lifeOfAConnection(Duration life) {
        long tenth = life.toMillis() / 10;
        return life.plusMillis(random.nextLong(-tenth, tenth + 1));
    }

    private Duration upTo(Duration most) {
        return Duration.ofMillis(random.nextLong(most.toMillis() + 1));
    }
}

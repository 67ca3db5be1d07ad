package dev.culvert.client.link;

import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.identity.Backoff;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The time after a go-away in which a connection looks for the server's successor. If no server listens yet,
 * the successor is still starting. That is not a failure, so the {@link Backoff} does not grow. All addresses
 * of the server are dialled in turn, at most {@link #MAX_ROUNDS_PER_SECOND} rounds a second, for {@link
 * #WINDOW}. The back-off handles any other failure and every failure after the window. Used by one thread at
 * a time.
 *
 * <pre>
 *  OVER ──go-away──► OPEN ──live, paused, or WINDOW later──► OVER
 * </pre>
 */
final class Handover {
    /** The maximum duration of a server's drain. */
    static final Duration WINDOW = Duration.ofSeconds(30);
    /**
     * The shortest wait. Clients that found no server at the same moment spread their next dials over half a
     * second.
     */
    static final Duration SHORTEST = Duration.ofMillis(500);
    /** The longest wait. A successor is dialled within a second of its start. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    static final int MAX_ROUNDS_PER_SECOND = 2;

    private final RandomGenerator random;
    private final int addresses;
    private boolean open;
    private long endNanos;
    private int absent;

    /** @param addresses the number of the server's addresses, which are dialled in turn */
    Handover(RandomGenerator random, int addresses) {
        this.random = random;
        this.addresses = addresses;
    }

    /** Starts the window: the server sent a go-away and asks for a dial after {@code delay}. */
    void begin(Duration delay, long nowNanos) {
        open = true;
        endNanos = nowNanos + delay.plus(WINDOW).toNanos();
        absent = 0;
    }

    /** Ends the window: a session is live, or none is needed. */
    void end() {
        open = false;
    }

    /** The wait before the next dial; null if the back-off decides. */
    @Nullable
    Duration afterFailure(Throwable failure, long nowNanos) {
        open = open && nowNanos - endNanos < 0;
        if (!open || !(failure instanceof DialFailure dial) || !dial.isAbsence()) {
            return null;
        }
        absent++;
        return absent % addresses != 0
                ? Duration.ZERO
                : SHORTEST.plusMillis(random.nextLong(LONGEST.minus(SHORTEST).toMillis() + 1));
    }

    /** Whether exactly one failure has occurred since the go-away. */
    boolean isFirstFailure() {
        return absent == 1;
    }
}

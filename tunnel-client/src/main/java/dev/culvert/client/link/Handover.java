package dev.culvert.client.link;

import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.identity.Backoff;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The time after a server has sent a connection away with a go-away, in which the connection looks for that server's
 * successor. Where nobody listens yet the successor still starts: that is no failure, so the {@link Backoff} does not grow. All addresses of the
 * server are dialled in turn, at most {@link #MAX_ROUNDS_PER_SECOND} rounds a second, for {@link #WINDOW}.
 * Any other failure, and every failure after the window, is the back-off's. Used by one thread at a time.
 *
 * <pre>
 *  OVER ──go-away──► OPEN ──live, paused, or WINDOW later──► OVER
 * </pre>
 */
final class Handover {
    /** As long as a server's drain takes at most. */
    static final Duration WINDOW = Duration.ofSeconds(30);
    /** Clients that found nobody at the same moment spread their next dials over half a second. */
    static final Duration SHORTEST = Duration.ofMillis(500);
    /** A successor is dialled within a second of its first moment. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    static final int MAX_ROUNDS_PER_SECOND = 2;

    private final RandomGenerator random;
    private final int addresses;
    private boolean open;
    private long endNanos;
    private int absent;

    /** @param addresses of the server, which are dialled in turn */
    Handover(RandomGenerator random, int addresses) {
        this.random = random;
        this.addresses = addresses;
    }

    /** The server sent the connection away, and wants it to dial after {@code delay}. */
    void begin(Duration delay, long nowNanos) {
        open = true;
        endNanos = nowNanos + delay.plus(WINDOW).toNanos();
        absent = 0;
    }

    /** A session is live, or none is wanted. */
    void end() {
        open = false;
    }

    /** How long to wait before the next dial; null: the back-off decides. */
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

    /** Whether nothing but this has failed since the go-away, and this once. */
    boolean isFirstFailure() {
        return absent == 1;
    }
}

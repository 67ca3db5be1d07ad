package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests in one slot of time. Times are counted in steps of a quarter of a power of two, from 64 µs
 * to a minute: 19 % apart at most. Safe for use by any thread.
 */
final class TrafficSlot {
    private static final int CLIENT_ERROR = 400;
    private static final int SERVER_ERROR = 500;
    private static final Cause[] CAUSES = Cause.values();
    private static final Hop[] HOPS = Hop.values();

    private static final int CLIENT_ERRORS = 0;
    private static final int SERVER_ERRORS = 1;
    /** Failures without a status: the head was sent, or the caller had left. */
    private static final int CUT = 2;
    /** Answers of services from 500 on, which pass untouched. */
    private static final int OF_SERVICES = 3;
    private static final int FIRST_CAUSE = 4;
    private static final int FIRST_TIME = FIRST_CAUSE + CAUSES.length * HOPS.length;
    private static final int MIN_OCTAVE = 6;
    private static final int STEPS = 4;
    private static final int TIMES = 20 * STEPS;

    private final long number;
    private final AtomicIntegerArray counts = new AtomicIntegerArray(FIRST_TIME + TIMES);

    TrafficSlot(long number) {
        this.number = number;
    }

    long number() {
        return number;
    }

    void count(int status, @Nullable Problem problem, long nanos) {
        counts.getAndIncrement(FIRST_TIME + step(nanos / 1000));
        if (status >= CLIENT_ERROR) {
            counts.getAndIncrement(status >= SERVER_ERROR ? SERVER_ERRORS : CLIENT_ERRORS);
        }
        if (problem != null) {
            counts.getAndIncrement(index(problem.cause(), problem.hop()));
            if (status < SERVER_ERROR && isFailure(problem.cause())) {
                counts.getAndIncrement(CUT);
            }
        } else if (status >= SERVER_ERROR) {
            counts.getAndIncrement(OF_SERVICES);
        }
    }

    private static boolean isFailure(Cause cause) {
        return cause.status() >= SERVER_ERROR;
    }

    @SuppressWarnings("EnumOrdinal") // the counters live as long as the process
    private static int index(Cause cause, Hop hop) {
        return FIRST_CAUSE + cause.ordinal() * HOPS.length + hop.ordinal();
    }

    private static int step(long micros) {
        if (micros < 1 << MIN_OCTAVE) {
            return 0;
        }
        int octave = 63 - Long.numberOfLeadingZeros(micros);
        int quarter = (int) (micros >> (octave - 2)) & (STEPS - 1);
        return Math.min(TIMES - 1, (octave - MIN_OCTAVE) * STEPS + quarter);
    }

    /** The middle of a step. */
    private static double seconds(int step) {
        double octave = 1L << (MIN_OCTAVE + step / STEPS);
        return octave * (1 + (step % STEPS + 0.5) / STEPS) / 1e6;
    }

    void add(TrafficSlot other) {
        for (int i = 0; i < counts.length(); i++) {
            int count = other.counts.getOpaque(i);
            if (count != 0) {
                counts.setPlain(i, counts.getPlain(i) + count);
            }
        }
    }

    boolean isEmpty() {
        return requests() == 0;
    }

    long requests() {
        return sum(FIRST_TIME, counts.length());
    }

    long clientErrors() {
        return counts.get(CLIENT_ERRORS);
    }

    long serverErrors() {
        return counts.get(SERVER_ERRORS);
    }

    long failures() {
        return serverErrors() + counts.get(CUT);
    }

    long problems() {
        return sum(FIRST_CAUSE, FIRST_TIME);
    }

    private long sum(int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += counts.get(i);
        }
        return sum;
    }

    /** The most frequent reason of failures; null: nothing failed. */
    TrafficSummary.@Nullable Reason mostly() {
        int most = counts.get(OF_SERVICES);
        Cause cause = null;
        Hop hop = Hop.UPSTREAM;
        for (Cause one : CAUSES) {
            for (Hop at : HOPS) {
                int count = isFailure(one) ? counts.get(index(one, at)) : 0;
                if (count > most) {
                    most = count;
                    cause = one;
                    hop = at;
                }
            }
        }
        return most == 0 ? null : new TrafficSummary.Reason(cause, hop, most);
    }

    /** The time in seconds that a share of the requests did not exceed; not a number: there was none. */
    double quantile(double share) {
        long rank = (long) Math.ceil(requests() * share);
        for (int i = 0; i < TIMES && rank > 0; i++) {
            rank -= counts.get(FIRST_TIME + i);
            if (rank <= 0) {
                return seconds(i);
            }
        }
        return Double.NaN;
    }
}

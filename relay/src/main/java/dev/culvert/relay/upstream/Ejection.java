package dev.culvert.relay.upstream;

import java.time.Duration;

/**
 * When an address is left out for a while, and for how long.
 *
 * @param failures in a row: refused or failed connections, exchanges without a response
 * @param first for how long, the first time; twice as long each time it fails again when it is tried
 * @param longest the longest that it gets
 * @param most of a name's addresses that may be left out at once, in percent, rounded down: one address never is
 */
public record Ejection(int failures, Duration first, Duration longest, int most) {
    /** Three failures in a row; 5 s, then doubling to a minute; half of the addresses. */
    public static Ejection defaults() {
        return new Ejection(3, Duration.ofSeconds(5), Duration.ofMinutes(1), 50);
    }

    /** For how long, the so manieth time in a row. */
    Duration time(int times) {
        Duration doubled = first.multipliedBy(1L << Math.min(times - 1, 20));
        return doubled.compareTo(longest) < 0 ? doubled : longest;
    }
}

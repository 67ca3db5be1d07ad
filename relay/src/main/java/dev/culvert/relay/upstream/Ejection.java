package dev.culvert.relay.upstream;

import java.time.Duration;

/**
 * The rule by which failing addresses are ejected, that is, not used for a while.
 *
 * @param failures the number of consecutive failures that ejects an address: refused or failed connections,
 *     exchanges without a response
 * @param first the duration of the first ejection; each failed trial doubles it
 * @param longest the maximum duration
 * @param most the maximum share of a name's addresses that may be ejected at once, in percent, rounded down;
 *     a single address never is
 */
public record Ejection(int failures, Duration first, Duration longest, int most) {
    /** The defaults: three consecutive failures; 5 s, doubling up to a minute; half of the addresses. */
    public static Ejection defaults() {
        return new Ejection(3, Duration.ofSeconds(5), Duration.ofMinutes(1), 50);
    }

    /** Returns the duration of the n-th consecutive ejection. */
    Duration time(int times) {
        Duration doubled = first.multipliedBy(1L << Math.min(times - 1, 20));
        return doubled.compareTo(longest) < 0 ? doubled : longest;
    }
}

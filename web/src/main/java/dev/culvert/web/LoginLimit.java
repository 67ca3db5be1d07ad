package dev.culvert.web;

import dev.culvert.http.quota.SourceAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts failed log-ins of each address, IPv6 by its /64. A valid token always enters, so that nobody locks
 * out those who share an address; tokens are too long to be guessed at any rate. Bounded: the address that
 * was first seen is forgotten first. Thread-safe.
 */
final class LoginLimit {
    static final int MAX_FAILURES = 10;
    static final Duration WINDOW = Duration.ofMinutes(1);
    static final int MAX_ADDRESSES = 4096;
    /** The number of failures of all addresses that get a line of the log in a window. */
    static final int MAX_TOLD = 100;

    private final Clock clock;
    private final Map<SourceAddress, Failures> byAddress = new LinkedHashMap<>();

    private Failures told = new Failures(0, Instant.MIN);

    private record Failures(int count, Instant until) {}

    /**
     * A failed log-in.
     *
     * @param limited whether its address had too many before
     * @param told whether it gets a line of the log: of those that are limited, the first one
     */
    record Failed(boolean limited, boolean told) {}

    LoginLimit(Clock clock) {
        this.clock = clock;
    }

    /** Counts a failed log-in. */
    synchronized Failed failed(SourceAddress address) {
        Instant now = clock.instant();
        Failures known = byAddress.get(address);
        if (known == null || !now.isBefore(known.until)) {
            byAddress.remove(address);
            if (byAddress.size() >= MAX_ADDRESSES) {
                byAddress.remove(byAddress.keySet().iterator().next());
            }
            known = new Failures(0, now.plus(WINDOW));
        }
        if (known.count > MAX_FAILURES) {
            return new Failed(true, false);
        }
        byAddress.put(address, new Failures(known.count + 1, known.until));
        return new Failed(known.count == MAX_FAILURES, isTold(now));
    }

    /** Guarded by this. */
    private boolean isTold(Instant now) {
        if (!now.isBefore(told.until)) {
            told = new Failures(0, now.plus(WINDOW));
        }
        told = new Failures(told.count + 1, told.until);
        return told.count <= MAX_TOLD;
    }

    /** Forgets the failures of an address that has logged in. */
    synchronized void succeeded(SourceAddress address) {
        byAddress.remove(address);
    }
}

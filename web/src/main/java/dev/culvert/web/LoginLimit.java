package dev.culvert.web;

import dev.culvert.http.quota.SourceAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits failed log-ins of each address, IPv6 by its /64. An attempt counts before it is judged, so parallel
 * attempts are limited, too. Bounded: the address that was first seen is forgotten first. Thread-safe.
 */
final class LoginLimit {
    static final int MAX_FAILURES = 10;
    static final Duration WINDOW = Duration.ofMinutes(1);
    static final int MAX_ADDRESSES = 4096;

    private final Clock clock;
    private final Map<SourceAddress, Failures> byAddress = new LinkedHashMap<>();

    private record Failures(int count, Instant until) {}

    LoginLimit(Clock clock) {
        this.clock = clock;
    }

    /** Counts an attempt. Returns false when the address has none left. */
    synchronized boolean take(SourceAddress address) {
        Instant now = clock.instant();
        Failures before = byAddress.get(address);
        if (before == null || !now.isBefore(before.until)) {
            byAddress.remove(address);
            if (byAddress.size() >= MAX_ADDRESSES) {
                byAddress.remove(byAddress.keySet().iterator().next());
            }
            byAddress.put(address, new Failures(1, now.plus(WINDOW)));
            return true;
        }
        if (before.count >= MAX_FAILURES) {
            return false;
        }
        byAddress.put(address, new Failures(before.count + 1, before.until));
        return true;
    }

    /** Forgets the attempts of an address that has logged in. */
    synchronized void succeeded(SourceAddress address) {
        byAddress.remove(address);
    }
}

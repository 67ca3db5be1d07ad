package dev.culvert.inbox;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The system's clock, which a test may move on. */
public final class MovableClock extends Clock {
    private volatile Duration ahead = Duration.ZERO;

    void advance(Duration time) {
        ahead = ahead.plus(time);
    }

    @Override
    public Instant instant() {
        return Instant.now().plus(ahead);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}

package dev.culvert.certs;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that starts now, in whole seconds, and moves when told. One thread. */
public final class TestClock extends Clock {
    private Instant now = Instant.ofEpochSecond(Clock.systemUTC().instant().getEpochSecond());

    public void move(Duration by) {
        now = now.plus(by);
    }

    @Override
    public Instant instant() {
        return now;
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

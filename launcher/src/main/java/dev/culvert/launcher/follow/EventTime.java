package dev.culvert.launcher.follow;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;

/** Times of events as people read them, by their own clock. */
final class EventTime {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final String UNKNOWN = "--:--:--";

    private EventTime() {}

    static String of(String instant) {
        return ofEnd(instant, 0);
    }

    /** The time of what began at {@code instant} and took {@code micros}. */
    static String ofEnd(String instant, long micros) {
        try {
            return TIME.format(
                    Instant.parse(instant).plus(micros, ChronoUnit.MICROS).atZone(ZoneId.systemDefault()));
        } catch (DateTimeParseException e) {
            return UNKNOWN;
        }
    }
}

package dev.culvert.platform.triggers.clock;

import com.cronutils.model.Cron;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When a clock's event is due, as cronus reads it: six fields, of which the seconds may be left out; {@code
 * @hourly}, {@code @daily} (or {@code @midnight}), {@code @weekly}, {@code @monthly} and {@code @yearly} (or
 * {@code @annually}); {@code @every 1h30m}; with a time zone in front, {@code TZ=Europe/Berlin}, else UTC.
 * Where both day of month and day of week are given, either counts; with a star in one of them, both.
 *
 * <p>A local time that is left out in spring is due at the first instant after the gap, one that comes twice
 * in autumn the first time alone.
 */
final class CronExpression {
    static final Duration SHORTEST = Duration.ofSeconds(60);
    private static final Duration LONGEST = Duration.ofDays(366);
    private static final int MAX_CHARS = 200;
    /** How many times are looked at for the shortest interval: those of more than a day of minutes. */
    private static final int LOOKED_AT = 100;
    private static final Pattern ZONED = Pattern.compile("(?:TZ|CRON_TZ)=(\\S+)\\s+(.*)");
    private static final Pattern EVERY = Pattern.compile("@every\\s+((?:\\d{1,6}[hms])+)");
    private static final Pattern PART = Pattern.compile("(\\d{1,6})([hms])");
    private static final Map<String, String> NAMES = Map.of("@hourly", "0 0 * * * *", "@daily", "0 0 0 * * *",
            "@midnight", "0 0 0 * * *", "@weekly", "0 0 0 * * 0", "@monthly", "0 0 0 1 * *", "@yearly",
            "0 0 0 1 1 *", "@annually", "0 0 0 1 1 *");
    /** Where both days are given, either counts. */
    private static final CronDefinition EITHER = days().instance();
    /** Where one of the days begins with a star, both count. */
    private static final CronDefinition BOTH = days().matchDayOfWeekAndDayOfMonth().instance();

    private final ZoneId zone;
    private final @Nullable ExecutionTime times;
    private final @Nullable Duration interval;

    private CronExpression(ZoneId zone, @Nullable ExecutionTime times, @Nullable Duration interval) {
        this.zone = zone;
        this.times = times;
        this.interval = interval;
    }

    private static CronDefinitionBuilder days() {
        return CronDefinitionBuilder.defineCron()
                .withSeconds()
                .and()
                .withMinutes()
                .and()
                .withHours()
                .and()
                .withDayOfMonth()
                .and()
                .withMonth()
                .and()
                .withDayOfWeek()
                .withValidRange(0, 7)
                .withMondayDoWValue(1)
                .withIntMapping(7, 0)
                .and();
    }

    /** Throws IllegalArgumentException, which says what was expected. */
    static CronExpression parse(String text) {
        if (text.length() > MAX_CHARS) {
            throw wrong("an expression of " + text.length() + " characters", "at most " + MAX_CHARS);
        }
        Matcher zoned = ZONED.matcher(text.strip());
        boolean hasZone = zoned.matches();
        ZoneId zone = hasZone ? zone(zoned.group(1)) : ZoneOffset.UTC;
        String rest = hasZone ? zoned.group(2).strip() : text.strip();
        Matcher every = EVERY.matcher(rest);
        if (every.matches()) {
            return new CronExpression(zone, null, interval(every.group(1)));
        }
        return new CronExpression(zone, ExecutionTime.forCron(cron(NAMES.getOrDefault(rest, rest))), null);
    }

    private static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("values.expression: there is no time zone " + name
                    + " (expected: one of the IANA database, as Europe/Berlin)", e);
        }
    }

    private static Duration interval(String text) {
        long seconds = 0;
        Matcher part = PART.matcher(text);
        while (part.find()) {
            long number = Long.parseLong(part.group(1));
            seconds += number * switch (part.group(2)) {
                case "h" -> Duration.ofHours(1).toSeconds();
                case "m" -> Duration.ofMinutes(1).toSeconds();
                default -> 1;
            };
        }
        Duration interval = Duration.ofSeconds(seconds);
        if (interval.compareTo(LONGEST) > 0) {
            throw wrong("an interval of " + text, "at most 8784h");
        }
        return interval;
    }

    private static Cron cron(String text) {
        if (text.startsWith("@")) {
            throw wrong(text, "@every 1h30m, or one of " + NAMES.keySet().stream().sorted().toList());
        }
        String[] fields = text.split("\\s+", -1);
        if (fields.length < 5 || fields.length > 6) {
            throw wrong(fields.length + " fields", "second minute hour day-of-month month day-of-week, as"
                    + " 0 0 9 * * 1-5; the second may be left out");
        }
        try {
            String six = fields.length == 5 ? "0 " + text : text;
            return new CronParser(hasStar(fields) ? BOTH : EITHER).parse(six.replace('?', '*')); // the same to cronus
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("values.expression: " + e.getMessage()
                    + " (expected: second minute hour day-of-month month day-of-week)", e);
        }
    }

    /** Whether a part of one of the days is a star, with a step or without. */
    private static boolean hasStar(String[] fields) {
        return Stream.of(fields[fields.length - 3], fields[fields.length - 1])
                .flatMap(field -> Stream.of(field.split(",", -1)))
                .anyMatch(part -> part.startsWith("*") || part.startsWith("?"));
    }

    private static IllegalArgumentException wrong(String what, String expected) {
        return new IllegalArgumentException("values.expression: " + what + " (expected: " + expected + ")");
    }

    /** Throws IllegalArgumentException for one that is never due, or more often than once in 60 s. */
    void requireSlow(Instant now) {
        Instant last = null;
        Instant from = now;
        for (int i = 0; i < LOOKED_AT; i++) {
            Optional<Instant> next = next(from);
            if (next.isEmpty()) {
                if (last == null) {
                    throw wrong("it is never due", "a day that there is");
                }
                return;
            }
            if (last != null && Duration.between(last, next.get()).compareTo(SHORTEST) < 0) {
                throw wrong("it is due at " + last + " and at " + next.get(), "at least "
                        + SHORTEST.toSeconds() + " s between two times");
            }
            last = next.get();
            from = last;
        }
    }

    /** The first time after another; empty: there is none. */
    Optional<Instant> next(Instant after) {
        if (interval != null) {
            return Optional.of(after.plus(interval));
        }
        ExecutionTime of = times;
        if (of == null) {
            return Optional.empty();
        }
        LocalDateTime local = LocalDateTime.ofInstant(after, zone);
        ZoneOffsetTransition here = zone.getRules().previousTransition(after.plusNanos(1));
        if (here != null && here.isOverlap() && local.isBefore(here.getDateTimeBefore())) {
            local = here.getDateTimeBefore().minusNanos(1); // these hours have been before
        }
        // UTC stands for local time: it has every hour once.
        Optional<LocalDateTime> next = of.nextExecution(local.atZone(ZoneOffset.UTC))
                .map(found -> found.toLocalDateTime());
        return next.map(this::instant).filter(found -> found.isAfter(after));
    }

    private Instant instant(LocalDateTime local) {
        ZoneOffsetTransition transition = zone.getRules().getTransition(local);
        return transition != null && transition.isGap()
                ? transition.getInstant()
                : local.atZone(zone).withEarlierOffsetAtOverlap().toInstant();
    }
}

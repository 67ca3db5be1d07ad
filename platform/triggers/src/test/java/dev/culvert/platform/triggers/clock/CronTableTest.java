package dev.culvert.platform.triggers.clock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Expressions over both changes of daylight saving in three zones, against a table that is made by going
 * through all days and times. {@code -Dculvert.cron.expressions=500} for the long form.
 */
class CronTableTest {
    private static final int EXPRESSIONS = Integer.getInteger("culvert.cron.expressions", 10);
    private static final int TIMES = 100;
    private static final int DAYS = 900;
    private static final List<String> MONTHS = List.of("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
            "AUG", "SEP", "OCT", "NOV", "DEC");
    private static final List<String> WEEK = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    /** A field, and the numbers that it stands for. */
    private record Field(String text, TreeSet<Integer> numbers) {
        boolean isAny() {
            return text.startsWith("*");
        }

        static Field one(Random random, int from, int to) {
            int number = from + random.nextInt(to - from + 1);
            return new Field(String.valueOf(number), new TreeSet<>(List.of(number)));
        }

        static Field of(Random random, int from, int to, List<String> names) {
            return switch (random.nextInt(names.isEmpty() ? 5 : 6)) {
                case 0, 1 -> any(from, to);
                case 2 -> one(random, from, to);
                case 3 -> list(random, from, to);
                case 4 -> range(random, from, to);
                default -> {
                    int number = from + random.nextInt(to - from + 1);
                    yield new Field(names.get(number), new TreeSet<>(List.of(number)));
                }
            };
        }

        static Field any(int from, int to) {
            return new Field("*", all(from, to, 1));
        }

        private static Field list(Random random, int from, int to) {
            var numbers = new TreeSet<Integer>();
            for (int i = 0; i < 3; i++) {
                numbers.add(from + random.nextInt(to - from + 1));
            }
            return new Field(numbers.stream().map(String::valueOf).collect(Collectors.joining(",")), numbers);
        }

        private static Field range(Random random, int from, int to) {
            int first = from + random.nextInt(to - from);
            int last = first + 1 + random.nextInt(to - first);
            int step = 1 + random.nextInt(5);
            return switch (random.nextInt(3)) {
                case 0 -> new Field(first + "-" + last, all(first, last, 1));
                case 1 -> new Field(first + "-" + last + "/" + step, all(first, last, step));
                default -> new Field("*/" + step, all(from, to, step));
            };
        }

        private static TreeSet<Integer> all(int from, int to, int step) {
            return IntStream.rangeClosed(from, to)
                    .filter(number -> (number - from) % step == 0)
                    .boxed()
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** An expression, by its fields. */
    private record Fields(Field second, Field minute, Field hour, Field day, Field month, Field weekday) {
        static Fields of(Random random) {
            return new Fields(Field.one(random, 0, 59), Field.of(random, 0, 59, List.of()),
                    Field.of(random, 0, 23, List.of()), Field.of(random, 1, 31, List.of()),
                    Field.of(random, 1, 12, MONTHS), Field.of(random, 0, 6, WEEK));
        }

        String text() {
            return String.join(" ", second.text, minute.text, hour.text, day.text, month.text, weekday.text);
        }

        boolean isOn(LocalDate date) {
            boolean ofMonth = day.numbers.contains(date.getDayOfMonth());
            boolean ofWeek = weekday.numbers.contains(date.getDayOfWeek().getValue() % 7);
            boolean isDay = day.isAny() || weekday.isAny() ? ofMonth && ofWeek : ofMonth || ofWeek;
            return isDay && month.numbers.contains(date.getMonthValue());
        }

        List<Instant> times(ZoneId zone, Instant after) {
            var times = new TreeSet<Instant>();
            LocalDate first = LocalDate.ofInstant(after, zone).minusDays(1);
            for (int i = 0; i < DAYS && times.size() < TIMES; i++) {
                LocalDate date = first.plusDays(i);
                if (isOn(date)) {
                    for (int hours : hour.numbers) {
                        for (int minutes : minute.numbers) {
                            LocalDateTime local = date.atTime(hours, minutes, second.numbers.first());
                            Instant time = instant(zone, local);
                            if (time.isAfter(after)) {
                                times.add(time);
                            }
                        }
                    }
                }
            }
            return times.stream().limit(TIMES).toList();
        }

        private static Instant instant(ZoneId zone, LocalDateTime local) {
            ZoneOffsetTransition change = zone.getRules().getTransition(local);
            if (change == null) {
                return local.toInstant(zone.getRules().getOffset(local));
            }
            return change.isGap() ? change.getInstant() : local.toInstant(change.getOffsetBefore());
        }
    }

    @ParameterizedTest
    @CsvSource({"Europe/Berlin, 2026-03-27T12:00:00Z", "Europe/Berlin, 2026-10-23T12:00:00Z",
            "America/New_York, 2026-03-07T00:00:00Z", "America/New_York, 2026-10-31T00:00:00Z",
            "Australia/Lord_Howe, 2026-04-03T00:00:00Z", "Australia/Lord_Howe, 2026-10-02T00:00:00Z"})
    void itsTimesAreThoseOfTheTable(String zone, Instant after) {
        var random = new Random(7);
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < EXPRESSIONS; i++) {
            Fields fields = Fields.of(random);
            List<Instant> expected = fields.times(ZoneId.of(zone), after);
            List<Instant> times = new ArrayList<>();
            CronExpression cron = CronExpression.parse("TZ=" + zone + " " + fields.text());
            Instant here = after;
            while (times.size() < expected.size()) {
                here = cron.next(here).orElse(Instant.MAX);
                times.add(here);
            }
            if (!times.equals(expected)) {
                int at = IntStream.range(0, times.size())
                        .filter(each -> !times.get(each).equals(expected.get(each)))
                        .findFirst()
                        .orElse(0);
                wrong.add(fields.text() + ": " + times.get(at) + " in place of " + expected.get(at));
            }
        }
        assertThat(wrong).isEmpty();
    }
}

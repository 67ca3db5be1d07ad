package dev.culvert.launcher.logging;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;

/**
 * Writes a log event as one line of text: time, level, logger, message, then keys and their quoted values;
 * the stack trace of an error follows. A line of the access log begins with time, method, path, status and
 * total time instead. Text of peers is escaped here ({@link LogText}).
 */
final class TextLogEncoder extends LineEncoder {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
            .withZone(ZoneId.systemDefault());
    private static final int LEVEL_WIDTH = 5;
    private static final String ACCESS = "access";
    private static final String METHOD = "method";
    private static final String PATH = "path";
    private static final String STATUS = "status";
    private static final String TOTAL = "totalMicros";
    private static final Set<String> LEAD = Set.of(METHOD, PATH, STATUS, TOTAL);
    private static final String NONE = "-";

    @Override
    public byte[] encode(ILoggingEvent event) {
        List<KeyValuePair> given = event.getKeyValuePairs();
        List<KeyValuePair> pairs = given == null ? List.of() : given;
        var line = new StringBuilder(160).append(TIME.format(event.getInstant())).append(' ');
        Set<String> shown = Set.of();
        if (event.getLoggerName().equals(ACCESS)) {
            shown = LEAD;
            lead(line, pairs);
        } else {
            heading(line, event);
        }
        String gap = "";
        for (KeyValuePair pair : pairs) {
            if (!shown.contains(pair.key)) {
                line.append(gap)
                        .append(LogText.escaped(pair.key))
                        .append('=')
                        .append(LogText.quoted(pair.value));
                gap = " ";
            }
        }
        return line.append('\n').append(stackTrace(event)).toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void heading(StringBuilder line, ILoggingEvent event) {
        String level = event.getLevel().toString();
        String logger = event.getLoggerName();
        line.append(level)
                .repeat(' ', Math.max(0, LEVEL_WIDTH - level.length()))
                .append(' ')
                .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                .append(' ')
                .append(LogText.escaped(event.getFormattedMessage()))
                .append(' ');
    }

    /** Method, path, status and total as columns. A caller's space would begin another one. */
    private static void lead(StringBuilder line, List<KeyValuePair> pairs) {
        line.append(column(value(pairs, METHOD)))
                .append(' ')
                .append(column(value(pairs, PATH)))
                .append(' ')
                .append(column(value(pairs, STATUS)))
                .append(' ')
                .append(value(pairs, TOTAL) instanceof Long micros ? millis(micros) : NONE)
                .append(' ')
                .append(ACCESS)
                .append(' ');
    }

    private static @Nullable Object value(List<KeyValuePair> pairs, String key) {
        for (KeyValuePair pair : pairs) {
            if (pair.key.equals(key)) {
                return pair.value;
            }
        }
        return null;
    }

    private static String column(@Nullable Object value) {
        String text = LogText.escaped(value == null ? "" : value);
        return text.isEmpty() ? NONE : text.replace(" ", "\\x20");
    }

    private static String millis(long micros) {
        String fraction = Long.toString(1000 + micros % 1000);
        return micros / 1000 + "." + fraction.substring(1) + "ms";
    }
}

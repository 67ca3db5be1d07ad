package dev.culvert.launcher.logging;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/**
 * Writes a log event as one line of text: time, level, logger, message, then keys and their quoted values;
 * the stack trace of an error follows. Text of peers is escaped here ({@link LogText}).
 */
final class TextLogEncoder extends LineEncoder {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
            .withZone(ZoneId.systemDefault());
    private static final int LEVEL_WIDTH = 5;

    @Override
    public byte[] encode(ILoggingEvent event) {
        String level = event.getLevel().toString();
        String logger = event.getLoggerName();
        var line = new StringBuilder(160).append(TIME.format(event.getInstant()))
                .append(' ')
                .append(level)
                .repeat(' ', Math.max(0, LEVEL_WIDTH - level.length()))
                .append(' ')
                .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                .append(' ')
                .append(LogText.escaped(event.getFormattedMessage()))
                .append(' ');
        List<KeyValuePair> pairs = event.getKeyValuePairs();
        String gap = "";
        for (KeyValuePair pair : pairs == null ? List.<KeyValuePair>of() : pairs) {
            line.append(gap).append(LogText.escaped(pair.key)).append('=').append(LogText.quoted(pair.value));
            gap = " ";
        }
        return line.append('\n').append(stackTrace(event)).toString().getBytes(StandardCharsets.UTF_8);
    }
}

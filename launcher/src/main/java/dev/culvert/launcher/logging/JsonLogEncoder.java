package dev.culvert.launcher.logging;

import ch.qos.logback.classic.spi.ILoggingEvent;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;

/**
 * Writes a log event as one line of JSON: time, level, logger, thread, message, then the event's own keys.
 */
final class JsonLogEncoder extends LineEncoder {
    private static final List<String> OWN_KEYS = List.of("time", "level", "logger", "thread", "message",
            "error");

    private final ObjectMapper json = new ObjectMapper();

    @Override
    public byte[] encode(ILoggingEvent event) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", event.getInstant().toString());
        line.put("level", event.getLevel().toString());
        line.put("logger", event.getLoggerName());
        line.put("thread", event.getThreadName());
        line.put("message", event.getFormattedMessage());
        List<KeyValuePair> pairs = event.getKeyValuePairs();
        if (pairs != null) {
            pairs.forEach(pair -> line.put(OWN_KEYS.contains(pair.key) ? pair.key + "_" : pair.key,
                    value(pair.value)));
        }
        if (event.getThrowableProxy() != null) {
            line.put("error", stackTrace(event));
        }
        return write(line);
    }

    private static Object value(@Nullable Object value) {
        return value instanceof Number || value instanceof Boolean ? value : String.valueOf(value);
    }

    private byte[] write(Map<String, Object> line) {
        try {
            // JSON does not escape some characters that other programs treat as line ends or that reorder
            // text
            return (LogText.escaped(json.writeValueAsString(line)) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            return "{\"level\":\"ERROR\",\"message\":\"unwritable log event\"}\n"
                    .getBytes(StandardCharsets.UTF_8);
        }
    }
}

package dev.culvert.launcher.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/** The lines on standard output that scripts wait for. They are JSON in every log format. */
public final class EventLine {
    private static final ObjectMapper JSON = new ObjectMapper();

    private EventLine() {}

    /**
     * {@code {"event":"<event>", …}} with the facts in their order. Numbers are printed as numbers, other
     * values as texts.
     */
    public static String of(String event, Map<String, ?> facts) {
        var line = new LinkedHashMap<String, Object>();
        line.put("event", event);
        facts.forEach((key, value) -> line.put(key, value instanceof Number ? value : String.valueOf(value)));
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("facts of " + event, e);
        }
    }
}

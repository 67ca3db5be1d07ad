package dev.culvert.platform.triggers.hermes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The variables that a pipeline gets of an event. */
public final class Variables {
    /** The largest variables together, as JSON. */
    static final int MAX_BYTES = 64 << 10;
    private static final String PREFIX = "EVENT_";
    private static final String PAYLOAD = PREFIX + "PAYLOAD";
    private static final String NAME = "[A-Za-z_][A-Za-z0-9_]{0,127}";
    private static final int MAX = 200;
    private static final JsonMapper JSON = new JsonMapper();
    private static final TypeReference<TreeMap<String, String>> TEXTS = new TypeReference<>() {
    };

    private Variables() {}

    /**
     * The fields as {@code EVENT_NAME}, and the body as {@code EVENT_PAYLOAD} unless all together are too
     * large then.
     *
     * @param body null: there is none
     */
    public static Map<String, String> of(Map<String, String> fields, @Nullable String body) {
        Map<String, String> variables = new TreeMap<>();
        fields.forEach((name, value) -> variables.put(PREFIX + name.toUpperCase(Locale.ROOT), value));
        if (body != null && size(variables) + size(Map.of(PAYLOAD, body)) <= MAX_BYTES) {
            variables.put(PAYLOAD, body);
        }
        return variables;
    }

    /** Throws IllegalArgumentException, which names the variable. */
    static void require(Map<String, String> variables) {
        if (variables.size() > MAX) {
            throw new IllegalArgumentException("variables: " + variables.size() + " (expected: at most " + MAX
                    + ")");
        }
        variables.keySet().forEach(name -> {
            if (!name.matches(NAME)) {
                throw new IllegalArgumentException(
                        "variables: a name is wrong (expected: letters, digits and _,"
                                + " as TAG)");
            }
        });
        int size = size(variables);
        if (size > MAX_BYTES) {
            throw new IllegalArgumentException("variables: " + size + " bytes (expected: at most " + MAX_BYTES
                    + ")");
        }
    }

    static String json(Map<String, String> variables) {
        try {
            return JSON.writeValueAsString(new TreeMap<>(variables));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts always render", e);
        }
    }

    static Map<String, String> parse(String json) {
        try {
            return JSON.readValue(json, TEXTS);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the variables of a run are no JSON", e);
        }
    }

    private static int size(Map<String, String> variables) {
        return json(variables).getBytes(StandardCharsets.UTF_8).length;
    }
}

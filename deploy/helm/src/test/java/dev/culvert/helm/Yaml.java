package dev.culvert.helm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** Trees of maps, lists and scalars from YAML, and paths in them. */
final class Yaml {
    private static final YAMLMapper MAPPER = new YAMLMapper();
    private static final JsonMapper JSON = new JsonMapper();

    private Yaml() {}

    static Map<String, Object> map(String text) {
        try {
            return MAPPER.readValue(text, new TypeReference<LinkedHashMap<String, Object>>() {
            });
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    static Map<String, Object> map(Path file) throws IOException {
        return map(Files.readString(file));
    }

    /** JSON, which is YAML, too. */
    static String text(Object tree) {
        try {
            return JSON.writeValueAsString(tree);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> child(Map<String, Object> tree, String key) {
        return (Map<String, Object>) Objects.requireNonNull(
                tree.computeIfAbsent(key, absent -> new LinkedHashMap<String, Object>()));
    }

    /** Sets the value at a path of keys, and makes the maps on the way. */
    static void set(Map<String, Object> tree, Iterable<String> path, Object value) {
        Map<String, Object> parent = tree;
        String last = "";
        for (String key : path) {
            if (!last.isEmpty()) {
                parent = child(parent, last);
            }
            last = key;
        }
        parent.put(last, value);
    }
}

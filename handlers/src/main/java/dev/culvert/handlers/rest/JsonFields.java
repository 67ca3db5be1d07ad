package dev.culvert.handlers.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A request's JSON object, read strictly: what is wrong is answered 400, naming the field. */
public final class JsonFields {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final ObjectNode object;
    /** Stands before the names of its fields in what is said about them. */
    private final String within;

    private JsonFields(ObjectNode object, String within) {
        this.object = object;
        this.within = within;
    }

    /**
     * Reads an object with no other fields than {@code known}. Throws HandlerException with {@code BAD_REQUEST}.
     *
     * @param body JSON in UTF-8, borrowed for the call
     */
    public static JsonFields read(byte[] body, Set<String> known) {
        return readOpen(body).only(known);
    }

    private JsonFields only(Set<String> known) {
        object.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                throw invalid(
                        key(shown(name)) + ": unknown field (expected: " + new TreeSet<>(known) + ")");
            }
        });
        return this;
    }

    /** A field's name with what it stands in, as {@code rules[0].path}. */
    public String key(String field) {
        return within + field;
    }

    /** Reads an object that may have more fields than are known, as those of a newer peer. */
    public static JsonFields readOpen(byte[] body) {
        JsonNode node;
        try {
            node = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            var where = e.getLocation();
            throw invalid("the body is not JSON"
                    + (where == null
                            ? ""
                            : " (line " + where.getLineNr() + ", column " + where.getColumnNr() + ")"));
        } catch (IOException e) {
            throw invalid("the body is not JSON in UTF-8");
        }
        if (!(node instanceof ObjectNode object)) {
            throw invalid(
                    "the body is not a JSON object (expected: {…})");
        }
        return new JsonFields(object, "");
    }

    /** A text that must be there. */
    public String text(String field) {
        String text = optionalText(field);
        if (text == null) {
            throw invalid(key(field) + ": missing (expected: a string)");
        }
        return text;
    }

    /** A text, or null when it is left out. */
    public @Nullable String optionalText(String field) {
        JsonNode node = object.get(field);
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isTextual()) {
            throw invalid(key(field) + ": not a string (expected: a string)");
        }
        return node.textValue();
    }

    /** A text or number as it is written, or null when it is left out. */
    public @Nullable String optionalScalar(String field) {
        JsonNode node = object.get(field);
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isTextual() && !node.isNumber()) {
            throw invalid(key(field) + ": " + shown(node.toString()) + " (expected: a number or a string)");
        }
        return node.asText();
    }

    /** A list of texts that must be there; it may be empty. */
    public List<String> requiredTexts(String field) {
        if (!object.hasNonNull(field)) {
            throw invalid(key(field) + ": missing (expected: a list of strings)");
        }
        return texts(field);
    }

    /** A list of texts; empty when it is left out. */
    public List<String> texts(String field) {
        JsonNode node = object.get(field);
        List<String> texts = new ArrayList<>();
        if (node == null || node.isNull()) {
            return texts;
        }
        if (!node.isArray()) {
            throw invalid(key(field) + ": not a list (expected: a list of strings)");
        }
        for (JsonNode item : node) {
            if (!item.isTextual()) {
                throw invalid(key(field) + ": an item is not a string (expected: a list of strings)");
            }
            texts.add(item.textValue());
        }
        return texts;
    }

    /** Whether it is given, and not null. */
    public boolean has(String field) {
        return object.hasNonNull(field);
    }

    /** A list of objects with no other fields than {@code known}; empty when it is left out. */
    public List<JsonFields> objects(String field, Set<String> known) {
        JsonNode node = object.get(field);
        List<JsonFields> objects = new ArrayList<>();
        if (node == null || node.isNull()) {
            return objects;
        }
        if (!node.isArray()) {
            throw invalid(key(field) + ": not a list (expected: a list of objects)");
        }
        for (JsonNode item : node) {
            objects.add(nested(item, key(field) + "[" + objects.size() + "]", known));
        }
        return objects;
    }

    /** An object that must be there, with no other fields than {@code known}. */
    public JsonFields object(String field, Set<String> known) {
        return nested(object.path(field), key(field), known);
    }

    private static JsonFields nested(JsonNode node, String key, Set<String> known) {
        if (node instanceof ObjectNode inner) {
            return new JsonFields(inner, key + ".").only(known);
        }
        throw invalid(key + (node.isMissingNode() || node.isNull() ? ": missing" : ": not an object")
                + " (expected: an object with " + new TreeSet<>(known) + ")");
    }

    /** An object of texts or lists of texts under free names; empty when it is left out. */
    public Map<String, List<String>> textsByName(String field) {
        JsonNode node = object.get(field);
        Map<String, List<String>> all = new TreeMap<>();
        if (node == null || node.isNull()) {
            return all;
        }
        if (!(node instanceof ObjectNode inner)) {
            throw invalid(key(field)
                    + ": not an object (expected: names, each with a string or a list of strings)");
        }
        var values = new JsonFields(inner, key(field) + ".");
        inner.fieldNames()
                .forEachRemaining(name -> all.put(name, inner.path(name).isTextual()
                        ? List.of(inner.path(name).textValue())
                        : values.requiredTexts(name)));
        return all;
    }

    private static String shown(String name) {
        return name.length() > 40 ? name.substring(0, 40) + "…" : name;
    }

    private static HandlerException invalid(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request's JSON object, read strictly. Methods note what is wrong and return an empty value,
 * so that one answer with the status 400 names all mistakes, each with its field.
 */
public final class JsonFields {
    /** The maximum number of mistakes in an answer. A person mends no more at once. */
    private static final int MAX_MISTAKES = 20;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final ObjectNode object;
    /** The path of the object, in front of the names of its fields. */
    private final String within;
    private final List<String> mistakes;

    private JsonFields(ObjectNode object, String within, List<String> mistakes) {
        this.object = object;
        this.within = within;
        this.mistakes = mistakes;
    }

    /**
     * Reads an object that has no other fields than {@code known}. Throws HandlerException with
     * {@code BAD_REQUEST} for all mistakes of the fields, else for an IllegalArgumentException of
     * {@code making}; other exceptions pass.
     *
     * @param body JSON in UTF-8, borrowed for the call
     * @param making makes a value from the fields; gets empty values in place of wrong ones
     */
    public static <T extends @Nullable Object> T read(byte[] body, Set<String> known,
            Function<JsonFields, T> making) {
        JsonFields fields = parse(body);
        fields.only(known);
        return fields.make(making);
    }

    /** As {@link #read}, but the object may have other fields, as those of a newer peer. */
    public static <T extends @Nullable Object> T readOpen(byte[] body, Function<JsonFields, T> making) {
        return parse(body).make(making);
    }

    private static JsonFields parse(byte[] body) {
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
            throw invalid("the body is not a JSON object (expected: {…})");
        }
        return new JsonFields(object, "", new ArrayList<>());
    }

    private <T extends @Nullable Object> T make(Function<JsonFields, T> making) {
        try {
            T made = making.apply(this);
            check();
            return made;
        } catch (IllegalArgumentException e) {
            check();
            throw invalid(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            check();
            throw e;
        }
    }

    private void check() {
        if (!mistakes.isEmpty()) {
            throw invalid(String.join("; ", mistakes));
        }
    }

    private JsonFields only(Set<String> known) {
        object.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                wrong(shown(name), "unknown field", new TreeSet<>(known).toString());
            }
        });
        return this;
    }

    /** Returns the path of a field, as {@code rules[0].path}. */
    public String key(String field) {
        return within + field;
    }

    /** Returns a text that is required. */
    public String text(String field) {
        String text = optionalText(field);
        if (text == null && !has(field)) {
            wrong(field, "missing", "a string");
        }
        return text == null ? "" : text;
    }

    /** Returns a text, or null if it is absent. */
    public @Nullable String optionalText(String field) {
        JsonNode node = given(field);
        if (node != null && !node.isTextual()) {
            wrong(field, "not a string", "a string");
            return null;
        }
        return node == null ? null : node.textValue();
    }

    /** Returns a text or number as it is written, or null if it is absent. */
    public @Nullable String optionalScalar(String field) {
        JsonNode node = given(field);
        if (node != null && !node.isTextual() && !node.isNumber()) {
            wrong(field, shown(node.toString()), "a number or a string");
            return null;
        }
        return node == null ? null : node.asText();
    }

    /** Returns a whole number, or null if it is absent. */
    public @Nullable Long optionalNumber(String field) {
        JsonNode node = given(field);
        if (node != null && !(node.isIntegralNumber() && node.canConvertToLong())) {
            wrong(field, "not a whole number", "a whole number");
            return null;
        }
        return node == null ? null : Long.valueOf(node.longValue());
    }

    /** Returns a flag; false if it is absent. */
    public boolean flag(String field) {
        JsonNode node = given(field);
        if (node != null && !node.isBoolean()) {
            wrong(field, "not a boolean", "true or false");
        }
        return node != null && node.booleanValue();
    }

    /** Returns a list of texts that is required; it may be empty. */
    public List<String> requiredTexts(String field) {
        if (!has(field)) {
            wrong(field, "missing", "a list of strings");
        }
        return texts(field);
    }

    /** Returns a list of texts; empty if it is absent. */
    public List<String> texts(String field) {
        List<String> texts = new ArrayList<>();
        for (JsonNode item : items(field, "strings")) {
            if (!item.isTextual()) {
                wrong(field, "an item is not a string", "a list of strings");
                return List.of();
            }
            texts.add(item.textValue());
        }
        return texts;
    }

    private Iterable<JsonNode> items(String field, String kind) {
        JsonNode node = given(field);
        if (node != null && !node.isArray()) {
            wrong(field, "not a list", "a list of " + kind);
            return List.of();
        }
        return node == null ? List.of() : node;
    }

    /** Whether a field is present and not null. */
    public boolean has(String field) {
        return object.hasNonNull(field);
    }

    private @Nullable JsonNode given(String field) {
        return has(field) ? object.get(field) : null;
    }

    /** Returns a list of objects that have no other fields than {@code known}; empty if it is absent. */
    public List<JsonFields> objects(String field, Set<String> known) {
        List<JsonFields> objects = new ArrayList<>();
        for (JsonNode item : items(field, "objects")) {
            objects.add(nested(item, field + "[" + objects.size() + "]", known));
        }
        return objects;
    }

    /** Returns an object that is required and has no other fields than {@code known}. */
    public JsonFields object(String field, Set<String> known) {
        return nested(object.path(field), field, known);
    }

    private JsonFields nested(JsonNode node, String field, Set<String> known) {
        if (node instanceof ObjectNode inner) {
            return new JsonFields(inner, key(field) + ".", mistakes).only(known);
        }
        wrong(field, node.isMissingNode() || node.isNull() ? "missing" : "not an object",
                "an object with " + new TreeSet<>(known));
        // One mistake says enough: those of its fields go nowhere.
        return new JsonFields(JSON.createObjectNode(), key(field) + ".", new ArrayList<>());
    }

    /** Returns an object of texts or lists of texts by free names; empty if it is absent. */
    public Map<String, List<String>> textsByName(String field) {
        Map<String, List<String>> all = new TreeMap<>();
        JsonFields values = named(field, "names, each with a string or a list of strings");
        values.object.fieldNames()
                .forEachRemaining(name -> all.put(name, values.object.path(name).isTextual()
                        ? List.of(values.text(name))
                        : values.requiredTexts(name)));
        return all;
    }

    /** Returns an object of texts by free names; empty if it is absent. */
    public Map<String, String> textByName(String field) {
        Map<String, String> all = new LinkedHashMap<>();
        JsonFields values = named(field, "names, each with a string");
        values.object.fieldNames().forEachRemaining(name -> all.put(name, values.text(name)));
        return all;
    }

    private JsonFields named(String field, String expected) {
        JsonNode node = given(field);
        if (node != null && !(node instanceof ObjectNode)) {
            wrong(field, "not an object", expected);
        }
        return new JsonFields(node instanceof ObjectNode inner ? inner : JSON.createObjectNode(),
                key(field) + ".", mistakes);
    }

    private void wrong(String field, String what, String expected) {
        if (mistakes.size() < MAX_MISTAKES) {
            mistakes.add(key(field) + ": " + what + " (expected: " + expected + ")");
        }
    }

    private static String shown(String name) {
        return name.length() > 40 ? name.substring(0, 40) + "…" : name;
    }

    private static HandlerException invalid(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}

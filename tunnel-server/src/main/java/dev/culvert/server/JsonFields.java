package dev.culvert.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A request's JSON object, read strictly: what is wrong is answered 400, naming the field. */
final class JsonFields {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final ObjectNode object;

    private JsonFields(ObjectNode object) {
        this.object = object;
    }

    /**
     * Reads an object with no other fields than {@code known}. Throws HandlerException with {@code BAD_REQUEST}.
     *
     * @param body JSON in UTF-8, borrowed for the call
     */
    static JsonFields read(byte[] body, Set<String> known) {
        JsonFields fields = readOpen(body);
        fields.object.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                throw invalid(shown(name) + ": unknown field (expected: " + new TreeSet<>(known) + ")");
            }
        });
        return fields;
    }

    /** Reads an object that may have more fields than are known, as those of a newer peer. */
    static JsonFields readOpen(byte[] body) {
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
        return new JsonFields(object);
    }

    /** A text that must be there. */
    String text(String field) {
        String text = optionalText(field);
        if (text == null) {
            throw invalid(field + ": missing (expected: a string)");
        }
        return text;
    }

    /** A text, or null when it is left out. */
    @Nullable
    String optionalText(String field) {
        JsonNode node = object.get(field);
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isTextual()) {
            throw invalid(field + ": not a string (expected: a string)");
        }
        return node.textValue();
    }

    /** A text or number as it is written, or null when it is left out. */
    @Nullable
    String optionalScalar(String field) {
        JsonNode node = object.get(field);
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isTextual() && !node.isNumber()) {
            throw invalid(field + ": " + shown(node.toString()) + " (expected: a number or a string)");
        }
        return node.asText();
    }

    /** A list of texts that must be there; it may be empty. */
    List<String> requiredTexts(String field) {
        if (!object.hasNonNull(field)) {
            throw invalid(field + ": missing (expected: a list of strings)");
        }
        return texts(field);
    }

    /** A list of texts; empty when it is left out. */
    List<String> texts(String field) {
        JsonNode node = object.get(field);
        List<String> texts = new ArrayList<>();
        if (node == null || node.isNull()) {
            return texts;
        }
        if (!node.isArray()) {
            throw invalid(field + ": not a list (expected: a list of strings)");
        }
        for (JsonNode item : node) {
            if (!item.isTextual()) {
                throw invalid(field + ": an item is not a string (expected: a list of strings)");
            }
            texts.add(item.textValue());
        }
        return texts;
    }

    private static String shown(String name) {
        return name.length() > 40 ? name.substring(0, 40) + "…" : name;
    }

    private static HandlerException invalid(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}

package dev.culvert.launcher.output;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.JsonTokenId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * Reads a JSON text without an {@code ObjectMapper}, whose classes take longer to load than the rest of a
 * short command (docs/performance.md). Bounds of depth and length are those of Jackson's parser.
 */
public final class JsonTree {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JsonTree() {}

    /** The first value of a text; a missing node if it is not JSON or empty. */
    public static JsonNode of(String text) {
        try (JsonParser parser = new JsonFactory().createParser(text)) {
            return parser.nextToken() == null ? MissingNode.getInstance() : value(parser);
        } catch (IOException e) {
            return MissingNode.getInstance();
        }
    }

    private static JsonNode value(JsonParser parser) throws IOException {
        return switch (parser.currentTokenId()) {
            case JsonTokenId.ID_START_OBJECT -> object(parser);
            case JsonTokenId.ID_START_ARRAY -> array(parser);
            case JsonTokenId.ID_STRING -> NODES.textNode(parser.getText());
            case JsonTokenId.ID_NUMBER_INT -> NODES.numberNode(parser.getBigIntegerValue());
            case JsonTokenId.ID_NUMBER_FLOAT -> NODES.numberNode(parser.getDoubleValue());
            case JsonTokenId.ID_TRUE -> NODES.booleanNode(true);
            case JsonTokenId.ID_FALSE -> NODES.booleanNode(false);
            default -> NODES.nullNode();
        };
    }

    private static ObjectNode object(JsonParser parser) throws IOException {
        ObjectNode object = NODES.objectNode();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            object.set(name, value(parser));
        }
        return object;
    }

    private static ArrayNode array(JsonParser parser) throws IOException {
        ArrayNode array = NODES.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            array.add(value(parser));
        }
        return array;
    }
}

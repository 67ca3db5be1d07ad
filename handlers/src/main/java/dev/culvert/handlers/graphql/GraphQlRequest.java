package dev.culvert.handlers.graphql;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.body.HeldBody;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A GraphQL request in a body of {@code application/json}.
 *
 * @param query the document
 * @param operationName the operation to execute, or null if the document has only one
 * @param variables the variables by name, without the {@code $}
 */
record GraphQlRequest(String query, @Nullable String operationName, Map<String, Object> variables) {
    /** The maximum number of JSON tokens. A commit of 10,000 files has ten for each file. */
    static final int MAX_TOKENS = 200_000;

    /** The memory of a small object as a node and as a map, though its text is two characters. */
    private static final int TOKEN_BYTES = 100;

    private static final JsonMapper JSON = new JsonMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder().maxTokenCount(MAX_TOKENS).build())
            .build());

    /**
     * Parses a body and charges the memory of the result to it. Throws HandlerException (bad request) for
     * members other than these three.
     */
    static GraphQlRequest of(HeldBody body) {
        JsonNode root = parsed(body);
        if (!root.isObject() || !root.path("query").isTextual()) {
            throw bad("the body is no JSON object with a text \"query\"");
        }
        JsonNode name = root.path("operationName");
        JsonNode variables = root.path("variables");
        if (!absent(name) && !name.isTextual()) {
            throw bad("\"operationName\" is no text");
        }
        if (!absent(variables) && !variables.isObject()) {
            throw bad("\"variables\" is no object");
        }
        return new GraphQlRequest(root.path("query").textValue(), absent(name) ? null : name.textValue(),
                absent(variables) ? Map.of() : members(variables));
    }

    private static boolean absent(JsonNode member) {
        return member.isMissingNode() || member.isNull();
    }

    private static JsonNode parsed(HeldBody body) {
        try (JsonParser parser = JSON.createParser(body.stream())) {
            JsonNode root = JSON.readTree(parser);
            if (root == null || parser.nextToken() != null) {
                throw bad("the body is no JSON");
            }
            body.charge(body.size() + TOKEN_BYTES * parser.currentTokenCount());
            return root;
        } catch (JacksonException e) {
            throw bad("the body is no JSON");
        } catch (IOException e) {
            throw new UncheckedIOException("bytes at hand never fail", e);
        }
    }

    private static Map<String, Object> members(JsonNode object) {
        Map<String, Object> members = new LinkedHashMap<>();
        object.properties()
                .forEach(member -> members.put(member.getKey(),
                        JSON.convertValue(member.getValue(), Object.class)));
        return members;
    }

    private static HandlerException bad(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}

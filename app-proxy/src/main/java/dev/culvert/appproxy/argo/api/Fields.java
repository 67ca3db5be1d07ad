package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Members that several kinds share, and JSON as text. */
public final class Fields {
    public static final String ACTOR = "workflows.argoproj.io/actor";
    public static final String ACTOR_EMAIL = "workflows.argoproj.io/actor-email";
    public static final String ACTION = "workflows.argoproj.io/action";

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int MAX_LABEL = 63;

    private Fields() {}

    public static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** A patch or object of ours, from its text. */
    public static ObjectNode parse(String json) {
        try {
            return (ObjectNode) MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON: " + json, e);
        }
    }

    /** One server-sent event in the envelope of gRPC gateways. */
    public static byte[] event(JsonNode result) {
        return ("data: " + object().set("result", result) + "\n\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Now, as Kubernetes writes times. */
    public static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The user and kind of the latest action, as Argo's labels. */
    public static void actor(ObjectNode labels, AuthenticatedCaller caller, String action) {
        labels.put(ACTOR, labelled(caller.id()));
        labels.put(ACTOR_EMAIL, labelled(caller.email().replaceFirst("@", ".at.")));
        labels.put(ACTION, action);
    }

    /** Text as the value of a label may be: other characters become hyphens, and the end counts. */
    public static String labelled(String text) {
        String value = text.replaceAll("[^-_.a-zA-Z0-9]", "-");
        String end = value.length() > MAX_LABEL ? value.substring(value.length() - MAX_LABEL) : value;
        return end.replaceAll("^[^a-zA-Z0-9]+|[^a-zA-Z0-9]+$", "");
    }
}

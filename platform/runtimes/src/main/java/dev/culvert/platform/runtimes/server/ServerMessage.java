package dev.culvert.platform.runtimes.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.platform.runtimes.store.Credential;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A change of the tunnel server's list of runtimes, as it waits in the outbox. */
public sealed interface ServerMessage {
    String account();

    String name();

    /**
     * A runtime is created. The credential of its client is in its row alone.
     *
     * @param upstream the upstream of a hosted one; null: it has a tunnel
     */
    record Create(String account, String name, @Nullable String upstream) implements ServerMessage {
        /** The body of the call. */
        Map<String, Object> body(@Nullable Credential credential) {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("account", account);
            body.put("name", name);
            if (upstream != null) {
                body.put("upstream", upstream);
            }
            if (credential != null) {
                body.put("enrolment", Map.of("id", credential.id(), "hash", credential.hash(), "expiresAt",
                        Instant.ofEpochSecond(credential.expires()).toString()));
            }
            return body;
        }
    }

    /**
     * A runtime is deleted.
     *
     * @param force whether it is deleted with webhooks that wait
     */
    record Delete(String account, String name, boolean force) implements ServerMessage {}

    /** The message as JSON. */
    default String text() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("account", account());
        members.put("name", name());
        switch (this) {
            case Create create -> members.put("upstream", create.upstream);
            case Delete delete -> members.put("force", delete.force);
        }
        try {
            return Json.MAPPER.writeValueAsString(members);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("maps of strings always render", e);
        }
    }

    /** Reads {@link #text}. */
    static ServerMessage parse(String text) {
        try {
            JsonNode json = Json.MAPPER.readTree(text);
            String account = json.path("account").asText();
            String name = json.path("name").asText();
            return json.has("force")
                    ? new Delete(account, name, json.path("force").asBoolean())
                    : new Create(account, name, json.path("upstream").textValue());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("messages are JSON", e);
        }
    }

    /** The mapper of messages. */
    final class Json {
        private static final JsonMapper MAPPER = new JsonMapper();

        private Json() {}
    }
}

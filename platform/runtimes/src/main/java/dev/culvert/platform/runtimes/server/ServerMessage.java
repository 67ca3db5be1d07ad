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
     * A runtime is created.
     *
     * @param upstream the upstream of a hosted one; null: it has a tunnel, and the three others
     * @param id the id of its enrolment token
     * @param hash the secret hash of its enrolment token
     * @param expires the end of its enrolment token, in seconds since 1970
     */
    record Create(String account, String name, @Nullable String upstream, @Nullable String id,
            @Nullable String hash, long expires) implements ServerMessage {
        /** The creation of a hosted runtime, or of one whose client enrols with a credential. */
        public static Create of(String account, String name, @Nullable String upstream,
                @Nullable Credential credential) {
            return credential == null
                    ? new Create(account, name, upstream, null, null, 0)
                    : new Create(account, name, upstream, credential.id(), credential.hash(),
                            credential.expires());
        }

        /** The body of the call. */
        Map<String, Object> body() {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("account", account);
            body.put("name", name);
            if (upstream != null) {
                body.put("upstream", upstream);
            } else {
                body.put("enrolment",
                        Map.of("id", String.valueOf(id), "hash", String.valueOf(hash), "expiresAt",
                                Instant.ofEpochSecond(expires).toString()));
            }
            return body;
        }

        /** Without the hash. */
        @Override
        public String toString() {
            return "create " + account + "/" + name;
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
            case Create create -> {
                members.put("upstream", create.upstream);
                members.put("id", create.id);
                members.put("hash", create.hash);
                members.put("expires", create.expires);
            }
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
                    : new Create(account, name, json.path("upstream").textValue(),
                            json.path("id").textValue(), json.path("hash").textValue(),
                            json.path("expires").asLong());
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

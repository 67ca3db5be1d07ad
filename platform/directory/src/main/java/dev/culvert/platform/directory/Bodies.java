package dev.culvert.platform.directory;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.Rule;
import dev.culvert.platform.directory.store.RuntimeTokens;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The JSON of requests, as records, and of responses. */
final class Bodies {
    /** A rule with all its values. */
    private static final int MAX_BYTES = 64 << 10;
    private static final int MAX_TEXT = 256;
    private static final JsonMapper JSON = new JsonMapper();

    private Bodies() {}

    record NewAccount(@Nullable String id, String name) {
        static NewAccount of(JsonFields fields) {
            return new NewAccount(fields.optionalText("id"), fields.text("name"));
        }

        NewAccount {
            text("name", name);
            if (id != null && !Id.valid(id)) {
                throw new IllegalArgumentException("id: 24 hexadecimal digits, or none");
            }
        }
    }

    record NewUser(String name, String email, boolean admin) {
        static NewUser of(JsonFields fields) {
            return new NewUser(fields.text("name"), fields.text("email"), fields.flag("admin"));
        }

        NewUser {
            text("name", name);
            text("email", email);
            if (email.indexOf('@') < 1) {
                throw new IllegalArgumentException("email: an address as jo@example.com");
            }
        }
    }

    record NewTeam(String name, List<String> members) {
        static NewTeam of(JsonFields fields) {
            return new NewTeam(fields.text("name"), fields.texts("members"));
        }

        NewTeam {
            text("name", name);
            members = List.copyOf(members);
        }
    }

    record NewKey(@Nullable String user, @Nullable String runtime, @Nullable String name,
            @Nullable Long expires) {
        static NewKey of(JsonFields fields) {
            return new NewKey(fields.optionalText("user"), fields.optionalText("runtime"),
                    fields.optionalText("name"), fields.optionalNumber("expires"));
        }

        NewKey {
            if ((user == null) == (runtime == null)) {
                throw new IllegalArgumentException("user, runtime: one of them, the key's holder");
            }
            if (runtime != null && !runtime.matches("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")) {
                throw new IllegalArgumentException("runtime: a name of a-z, 0-9 and -");
            }
            text("name", name == null ? "key" : name);
        }
    }

    record NewRuntimeToken(String runtime, @Nullable Long ttlSeconds) {
        static NewRuntimeToken of(JsonFields fields) {
            return new NewRuntimeToken(fields.text("runtime"), fields.optionalNumber("ttlSeconds"));
        }

        NewRuntimeToken {
            if (ttlSeconds != null && (ttlSeconds < 1 || ttlSeconds > RuntimeTokens.MAX_SECONDS)) {
                throw new IllegalArgumentException("ttlSeconds: 1.." + RuntimeTokens.MAX_SECONDS);
            }
        }

        int seconds() {
            return ttlSeconds == null ? RuntimeTokens.DEFAULT_SECONDS : ttlSeconds.intValue();
        }
    }

    record NewRule(String entity, List<String> actions, List<String> teams, List<String> users,
            Map<String, List<String>> attributes) {
        static NewRule of(JsonFields fields) {
            return new NewRule(fields.text("entity"), fields.requiredTexts("actions"), fields.texts("teams"),
                    fields.texts("users"), fields.textsByName("attributes"));
        }

        Rule rule() {
            return new Rule(Id.create(), entity, actions, teams, users, attributes);
        }
    }

    record Ask(@Nullable String user, String entity, String action, Map<String, String> attributes) {
        static Ask of(JsonFields fields) {
            return new Ask(fields.optionalText("user"), fields.text("entity"), fields.text("action"),
                    fields.textByName("attributes"));
        }
    }

    record Token(String token) {
        static Token of(JsonFields fields) {
            return new Token(fields.text("token"));
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    record Reach(String url) {
        static Reach of(JsonFields fields) {
            return new Reach(fields.text("url"));
        }

        Reach {
            text("url", url);
        }
    }

    record Items<T>(List<T> items, @Nullable String next) {
        static <T> Items<T> of(List<T> items) {
            return new Items<>(items, null);
        }
    }

    /** Reads a request's body. Errors: HandlerException with BAD_REQUEST or BODY_TOO_LARGE. */
    static <T extends Record> Mono<T> read(EdgeRequest request, Class<T> type,
            Function<JsonFields, T> making) {
        return request.aggregate(MAX_BYTES)
                .map(bytes -> JsonFields.read(bytes, Arrays.stream(type.getRecordComponents())
                        .map(RecordComponent::getName)
                        .collect(Collectors.toSet()), making));
    }

    static EdgeResponse.Http answer(HttpResponseStatus status, Object view) {
        try {
            return EdgeResponse.Http.of(status, "application/json", JSON.writeValueAsBytes(view))
                    .with("cache-control", "no-store");
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of strings and numbers always render", e);
        }
    }

    static HandlerException invalid(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }

    /** Throws IllegalArgumentException unless the value is one readable line. */
    private static void text(String field, @Nullable String text) {
        if (text == null || text.isBlank() || text.length() > MAX_TEXT
                || text.chars().anyMatch(c -> c < ' ' || c == '<' || c == '>' || c == 127)) {
            throw new IllegalArgumentException(
                    field + ": a line of 1.." + MAX_TEXT + " characters without < and >");
        }
    }
}

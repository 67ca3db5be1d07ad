package dev.culvert.platform.directory;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.Rule;
import dev.culvert.platform.directory.store.RuntimeTokens;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** JSON of requests, read strictly into records, and of answers. */
final class Bodies {
    /** A rule with all its values. */
    private static final int MAX_BYTES = 64 << 10;
    private static final int MAX_TEXT = 256;
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .defaultSetterInfo(JsonSetter.Value.forContentNulls(Nulls.FAIL))
            .build();

    private Bodies() {}

    record NewAccount(@Nullable String id, String name) {
        NewAccount {
            text("name", name);
            if (id != null && !Id.valid(id)) {
                throw new IllegalArgumentException("id: 24 hexadecimal digits, or none");
            }
        }
    }

    record NewUser(String name, String email, boolean admin) {
        NewUser {
            text("name", name);
            text("email", email);
            if (email.indexOf('@') < 1) {
                throw new IllegalArgumentException("email: an address as jo@example.com");
            }
        }
    }

    record NewTeam(String name, @Nullable List<String> members) {
        NewTeam {
            text("name", name);
            members = members == null ? List.of() : List.copyOf(members);
        }

        List<String> list() {
            return Objects.requireNonNull(members);
        }
    }

    record NewKey(@Nullable String user, @Nullable String runtime, @Nullable String name,
            @Nullable Long expires) {
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

    record NewRuntimeToken(String runtime, @Nullable Integer ttlSeconds) {
        NewRuntimeToken {
            Objects.requireNonNull(runtime, "runtime: missing");
            if (ttlSeconds != null && (ttlSeconds < 1 || ttlSeconds > RuntimeTokens.MAX_SECONDS)) {
                throw new IllegalArgumentException("ttlSeconds: 1.." + RuntimeTokens.MAX_SECONDS);
            }
        }

        int seconds() {
            return ttlSeconds == null ? RuntimeTokens.DEFAULT_SECONDS : ttlSeconds;
        }
    }

    record NewRule(String entity, List<String> actions, @Nullable List<String> teams,
            @Nullable List<String> users,
            @Nullable Map<String, List<String>> attributes) {
        Rule rule() {
            return new Rule(Id.create(), entity, actions, teams == null ? List.of() : teams,
                    users == null ? List.of() : users, attributes == null ? Map.of() : attributes);
        }

        NewRule {
            Objects.requireNonNull(entity, "entity: missing");
            Objects.requireNonNull(actions, "actions: missing");
        }
    }

    record Ask(@Nullable String user, String entity, String action,
            @Nullable Map<String, String> attributes) {
        Ask {
            Objects.requireNonNull(entity, "entity: missing");
            Objects.requireNonNull(action, "action: missing");
        }
    }

    record Token(String token) {
        Token {
            Objects.requireNonNull(token, "token: missing");
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    record Reach(String url) {
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
    static <T> Mono<T> read(EdgeRequest request, Class<T> type) {
        return request.aggregate(MAX_BYTES).map(bytes -> {
            try {
                T value = JSON.readValue(bytes, type);
                if (value == null) {
                    throw invalid("the body is not a JSON object (expected: {…})");
                }
                return value;
            } catch (JsonProcessingException e) {
                throw invalid(told(e));
            } catch (IOException e) {
                throw invalid("the body is not JSON in UTF-8");
            }
        });
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

    /** Throws IllegalArgumentException unless it is a line that a person can read. */
    private static void text(String field, @Nullable String text) {
        if (text == null || text.isBlank() || text.length() > MAX_TEXT
                || text.chars().anyMatch(c -> c < ' ' || c == '<' || c == '>' || c == 127)) {
            throw new IllegalArgumentException(
                    field + ": a line of 1.." + MAX_TEXT + " characters without < and >");
        }
    }

    /** No name of a class, and nothing of the value, which may be a secret. */
    private static String told(JsonProcessingException failed) {
        return switch (failed) {
            case UnrecognizedPropertyException unknown ->
                shown(unknown.getPropertyName()) + ": unknown field (expected: "
                        + unknown.getKnownPropertyIds() + ")";
            case ValueInstantiationException refused when refused.getCause() instanceof RuntimeException cause
                    && cause.getMessage() != null ->
                cause.getMessage();
            case JsonMappingException other -> "not what is expected at " + path(other);
            default -> "the body is not JSON";
        };
    }

    private static String path(JsonMappingException failed) {
        String path = failed.getPath()
                .stream()
                .map(step -> step.getFieldName() == null
                        ? "[" + step.getIndex() + "]"
                        : shown(step.getFieldName()))
                .collect(Collectors.joining("."));
        return path.isEmpty() ? "its beginning (expected: {…})" : path;
    }

    private static String shown(String name) {
        return name.length() > 40 ? name.substring(0, 40) + "…" : name;
    }
}

package dev.culvert.platform.host.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The JSON of requests and responses. */
public final class JsonBodies {
    static final int MAX_BYTES = 64 << 10;
    private static final JsonMapper JSON = new JsonMapper();

    private JsonBodies() {}

    /**
     * A list.
     *
     * @param next the position of the rest; null: this is all
     */
    public record Items<T>(List<T> items, @Nullable String next) {
        public Items {
            items = List.copyOf(items);
        }

        /** A list that is complete. */
        public static <T> Items<T> of(List<T> items) {
            return new Items<>(items, null);
        }
    }

    /** Reads a request's body. Errors: HandlerException with BAD_REQUEST or BODY_TOO_LARGE. */
    public static <T extends Record> Mono<T> read(EdgeRequest request, Class<T> type,
            Function<JsonFields, T> making) {
        return request.aggregate(MAX_BYTES)
                .map(bytes -> JsonFields.read(bytes, Arrays.stream(type.getRecordComponents())
                        .map(RecordComponent::getName)
                        .collect(Collectors.toSet()), making));
    }

    /** A response that no cache keeps. */
    public static EdgeResponse.Http answer(HttpResponseStatus status, Object view) {
        return EdgeResponse.Http.of(status, "application/json", bytes(view))
                .with("cache-control", "no-store");
    }

    static byte[] bytes(Object view) {
        try {
            return JSON.writeValueAsBytes(view);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of strings and numbers always render", e);
        }
    }
}

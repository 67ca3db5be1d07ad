package dev.culvert.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** JSON responses of an admin API, made of records whose components are the members. */
public final class JsonAnswer {
    private static final JsonMapper JSON = new JsonMapper();

    private JsonAnswer() {}

    /**
     * A page of a list.
     *
     * @param next where the next page begins; null: this is the last one
     */
    public record Page<T>(List<T> items, @Nullable String next) {}

    /** A response with one object, which no cache keeps. */
    public static EdgeResponse.Http of(HttpResponseStatus status, Record view) {
        return EdgeResponse.Http
                .of(status, "application/json", line(view).getBytes(StandardCharsets.UTF_8))
                .with("cache-control", "no-store");
    }

    /** One line of JSON. */
    public static String line(Record view) {
        try {
            return JSON.writeValueAsString(view);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of strings and numbers always render", e);
        }
    }
}

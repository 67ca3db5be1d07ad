package dev.culvert.appproxy.argo.api;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requested part of a log.
 *
 * @param pod the only pod, or null for all
 * @param container of the pods; empty for their only one
 * @param follow whether to wait for more
 * @param tailLines how many of the latest lines, or null for all
 */
public record LogQuery(@Nullable String pod, String container, boolean follow, @Nullable Integer tailLines) {

    /** From a request's query: {@code podName}, {@code container}, {@code follow}, {@code tailLines}. */
    public static LogQuery of(QueryStringDecoder query, String container) {
        Map<String, List<String>> parameters = query.parameters();
        String pod = first(parameters, "podName");
        String named = first(parameters, "container");
        String tail = first(parameters, "tailLines");
        if (tail != null && !tail.matches("\\d{1,7}")) {
            throw HandlerException.of(Reason.BAD_REQUEST, "tailLines: a whole number up to 9999999");
        }
        return new LogQuery(checked(pod), named == null ? container : String.valueOf(checked(named)),
                "true".equals(first(parameters, "follow")), tail == null ? null : Integer.valueOf(tail));
    }

    public static @Nullable String first(Map<String, List<String>> parameters, String name) {
        List<String> values = parameters.get(name);
        return values == null || values.isEmpty() || values.getFirst().isEmpty() ? null : values.getFirst();
    }

    private static @Nullable String checked(@Nullable String name) {
        return name == null ? null : new ObjectKey("default", name).name();
    }
}

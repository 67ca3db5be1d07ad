package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One call of the API.
 *
 * @param template its path, with {@code {names}} for the segments that vary
 * @param who may make it
 * @param work what answers it; its StoreExceptions become problems
 */
record Call(HttpMethod method, String template, Who who, Work work) {
    /** Whose key it takes. */
    enum Who {
        /** Anybody with a key. */
        HOLDER,
        /** A user who administers the account. */
        ADMIN,
        /** A user who administers all accounts. */
        OPERATOR,
        /** A runtime. */
        RUNTIME
    }

    /** Answers a call. */
    @FunctionalInterface
    interface Work {
        Mono<? extends EdgeResponse> answer(Scope scope);
    }

    boolean changes() {
        return who != Who.RUNTIME && who != Who.HOLDER && !method.equals(HttpMethod.GET);
    }

    /** The varying segments of {@code path} as received, or null when the path is not this call's. */
    @Nullable
    Map<String, String> match(String path) {
        List<String> wanted = List.of(template.split("/", -1));
        List<String> given = List.of(path.split("/", -1));
        if (wanted.size() != given.size()) {
            return null;
        }
        Map<String, String> segments = new HashMap<>();
        for (int i = 0; i < wanted.size(); i++) {
            String segment = wanted.get(i);
            if (segment.startsWith("{")) {
                segments.put(segment.substring(1, segment.length() - 1), given.get(i));
            } else if (!segment.equals(given.get(i))) {
                return null;
            }
        }
        return segments;
    }
}

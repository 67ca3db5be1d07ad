package dev.culvert.server.admin;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeScope;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The query of the list of runtimes.
 *
 * @param after the name that the list begins after; null: with the first
 * @param limit the maximum number of runtimes
 */
record RuntimeQuery(@Nullable RuntimeName after, int limit) {
    private static final int MAX_LIMIT = 1000;

    /** Reads the query. Without {@code limit} it asks for all. Throws InvalidNameException. */
    static RuntimeQuery of(EdgeRequest request) {
        String limit = first(request, "limit");
        String next = first(request, "next");
        return new RuntimeQuery(next == null ? null : name(next),
                limit == null ? Integer.MAX_VALUE : limit(limit));
    }

    /**
     * Whether a deletion is refused while webhooks wait: {@code pending=refuse}, which is what registrars get
     * unless they ask for {@code pending=delete}. Throws InvalidNameException for other words.
     */
    static boolean keepsPending(EdgeRequest request, RuntimeScope scope) {
        String word = first(request, "pending");
        if (word == null) {
            return scope.registrar() != null;
        }
        return switch (word) {
            case "refuse" -> true;
            case "delete" -> false;
            default -> throw new InvalidNameException("pending", "not known (expected: refuse or delete)");
        };
    }

    private static RuntimeName name(String next) {
        int slash = next.indexOf('/');
        return new RuntimeName(next.substring(0, Math.max(slash, 0)), next.substring(slash + 1));
    }

    private static int limit(String text) {
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1 && limit <= MAX_LIMIT) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new InvalidNameException("limit", "not a number of runtimes (expected: 1.." + MAX_LIMIT + ")");
    }

    private static @Nullable String first(EdgeRequest request, String key) {
        List<String> values = new QueryStringDecoder(request.target()).parameters().get(key);
        return values == null ? null : values.getFirst();
    }
}

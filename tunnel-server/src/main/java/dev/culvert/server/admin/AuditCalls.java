package dev.culvert.server.admin;

import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.server.store.AuditStore;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code GET /api/v1/audit}. */
final class AuditCalls {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1000;

    private final AuditStore store;

    AuditCalls(AuditStore store) {
        this.store = store;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.GET, "/api/v1/audit", (request, segments) -> page(request)));
    }

    private Mono<EdgeResponse> page(EdgeRequest request) {
        Map<String, List<String>> query = new QueryStringDecoder(request.target()).parameters();
        long from = number(query, "next", 0, Long.MAX_VALUE);
        int limit = (int) number(query, "limit", DEFAULT_LIMIT, MAX_LIMIT);
        return store.page(from, limit)
                .map(page -> JsonAnswer.of(HttpResponseStatus.OK,
                        new JsonAnswer.Page<>(page.entries().stream().map(AdminJson.AuditView::of).toList(),
                                page.next() == 0 ? null : Long.toString(page.next()))));
    }

    private static long number(Map<String, List<String>> query, String name, long fallback, long most) {
        List<String> values = query.getOrDefault(name, List.of());
        if (values.isEmpty()) {
            return fallback;
        }
        try {
            long number = Long.parseLong(values.getFirst());
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw HandlerException.of(Reason.BAD_REQUEST, name + ": not a value (expected: "
                + (most == Long.MAX_VALUE ? "next of the page before" : "1.." + most) + ")");
    }
}

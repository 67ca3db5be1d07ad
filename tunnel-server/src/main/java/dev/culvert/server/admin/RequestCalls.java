package dev.culvert.server.admin;

import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.observe.RequestRecord;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** {@code GET /api/v1/requests}, and one of them. */
final class RequestCalls {
    private static final String ALL = "/api/v1/requests";
    private static final int DEFAULT_LIMIT = 100;

    private final RequestLog requests;

    RequestCalls(RequestLog requests) {
        this.requests = requests;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> page(request)),
                new AdminRoute(HttpMethod.GET, ALL + "/{id}",
                        (request, segments) -> one(Objects.requireNonNull(segments.get("id")))));
    }

    private Mono<EdgeResponse> page(EdgeRequest request) {
        return Mono.fromSupplier(() -> {
            RequestQuery query = RequestQuery.of(request);
            return JsonAnswer.of(HttpResponseStatus.OK, requests.page(query.filter(), query.text("next"),
                    query.limit(DEFAULT_LIMIT, RequestLog.MAX_PAGE)));
        });
    }

    private Mono<EdgeResponse> one(String id) {
        return Mono.fromSupplier(() -> {
            RequestRecord found = requests.find(id);
            if (found == null) {
                throw HandlerException.of(Reason.NOT_FOUND,
                        "no request with this id is kept: problems are, for a while; others while somebody looks");
            }
            return JsonAnswer.of(HttpResponseStatus.OK, found);
        });
    }
}

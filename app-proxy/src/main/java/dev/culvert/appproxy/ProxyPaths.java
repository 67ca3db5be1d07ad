package dev.culvert.appproxy;

import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import reactor.core.publisher.Mono;

/**
 * Rewrites alternative paths. Callers in the cluster call the pod at {@code /api/…} instead of {@code
 * /app-proxy/api/…}, and read its health below either prefix.
 */
final class ProxyPaths implements EdgeFilter {
    private static final String PREFIX = "/app-proxy";

    @Override
    public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
        String target = request.target();
        return switch (request.path()) {
            case "/api/healthz", "/app-proxy/api/healthz" -> next.handle(at(request, "/healthz"));
            case "/api/readyz", "/app-proxy/api/readyz" -> next.handle(at(request, "/readyz"));
            default -> next.handle(target.startsWith("/api/") ? at(request, PREFIX + target) : request);
        };
    }

    private static EdgeRequest at(EdgeRequest request, String target) {
        return new EdgeRequest(request.method(), target, request.headers(), request.body(),
                request.context());
    }
}

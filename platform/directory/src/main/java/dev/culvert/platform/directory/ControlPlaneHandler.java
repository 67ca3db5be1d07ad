package dev.culvert.platform.directory;

import dev.culvert.handlers.graphql.GraphQlHandler;
import dev.culvert.handlers.graphql.GraphQlLimits;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.path.RawPath;
import dev.culvert.platform.directory.store.Directory;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Serves the control plane's requests: {@code /api/ping} without authentication, the REST calls, and GraphQL.
 */
final class ControlPlaneHandler implements EdgeHandler {
    private static final byte[] PONG = "ok\n".getBytes(StandardCharsets.US_ASCII);

    private static final String GRAPHQL = "/2.0/api/graphql";

    private final DirectoryApi api;
    private final KeyCheck keys;
    private final GraphQlHandler graphql;

    ControlPlaneHandler(Directory directory, AuditTrail audit, AllowedOrigins origins) {
        List<Call> calls = new ArrayList<>(PeopleCalls.of(directory));
        calls.addAll(RuntimeTokenCalls.of(directory, origins, audit));
        keys = new KeyCheck(directory);
        api = new DirectoryApi(calls, keys, audit);
        graphql = new GraphQlHandler(List.of(new MeFunction(directory, keys)), GraphQlLimits.defaults(),
                Schedulers.boundedElastic());
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        if (!RawPath.wellFormed(path)) {
            return Mono.error(Bodies.invalid("the path has dot segments, backslashes or broken escapes"));
        }
        if (path.equals("/api/ping") && request.method().equals(HttpMethod.GET)) {
            return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain", PONG));
        }
        if (path.equals(GRAPHQL)) {
            return keys.holder(request).flatMap(known -> graphql.handle(request));
        }
        return api.handle(request);
    }
}

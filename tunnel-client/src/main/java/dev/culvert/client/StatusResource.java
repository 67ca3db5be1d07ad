package dev.culvert.client;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** {@code /status} of the health listener: the client's {@link ClientStatus} as JSON. */
final class StatusResource implements EdgeHandler {
    private final Supplier<ClientStatus> status;

    /** @param status called on an event loop; must not block */
    StatusResource(Supplier<ClientStatus> status) {
        this.status = status;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        if (!request.path().equals("/status")) {
            return Mono.error(new EdgeException(Problem.of(Problem.Cause.NOT_FOUND, Problem.Hop.EDGE,
                    "this listener serves /healthz, /readyz, /metrics, /status, /pause, /pause/now and /resume")));
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
        }
        return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, "application/json",
                status.get().json()).with("cache-control", "no-store"));
    }
}

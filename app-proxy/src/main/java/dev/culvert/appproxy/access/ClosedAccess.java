package dev.culvert.appproxy.access;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/** The access control without a control plane: refuses all operations. */
final class ClosedAccess implements Access {
    @Override
    public boolean knowsCallers() {
        return false;
    }

    @Override
    public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
        return closed();
    }

    @Override
    public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
        return closed();
    }

    @Override
    public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context, Mono<T> change) {
        return closed();
    }

    private static <T> Mono<T> closed() {
        return Mono.error(() -> HandlerException.of(Reason.UNAVAILABLE,
                "callers can't be authorised: this App-Proxy has no controlPlane"));
    }
}

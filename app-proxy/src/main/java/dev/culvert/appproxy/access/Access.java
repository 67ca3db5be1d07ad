package dev.culvert.appproxy.access;

import dev.culvert.edge.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import reactor.core.publisher.Mono;

/** Who calls, and what they may do. Safe for use by any thread; never blocks. */
public interface Access {
    /**
     * The user whose token the request carries in {@code Authorization} (bare, or behind {@code Bearer}) or {@code
     * x-access-token}. Errors: HandlerException UNAUTHORIZED for no or an unknown token, NOT_FOUND for a user of another
     * account than the runtime's, UNAVAILABLE when the control plane is away and nothing is known.
     */
    Mono<Caller> caller(HttpHeaders headers);

    /** Completes when the caller may. Errors: HandlerException FORBIDDEN, UNAVAILABLE when that can't be found out. */
    Mono<Void> allow(Caller caller, Operation operation);

    /**
     * A change of state: asks whether the caller may, subscribes to {@code change} if so, and writes one audit record,
     * denied, failed or done. Errors: those of {@link #allow}, and of {@code change}.
     */
    <T> Mono<T> change(Caller caller, Operation operation, RequestContext context, Mono<T> change);
}

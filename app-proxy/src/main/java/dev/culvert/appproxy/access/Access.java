package dev.culvert.appproxy.access;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/** Who calls, and what they may do. Safe for use by any thread; never blocks. */
public interface Access {
    /** Whether there is a control plane to ask; without one all calls fail. */
    default boolean knowsCallers() {
        return true;
    }

    /**
     * The user whose token the request carries in {@code Authorization} (bare, or behind {@code Bearer}) or {@code
     * x-access-token}. Errors: HandlerException UNAUTHORIZED for no or an unknown token, NOT_FOUND for a user of another
     * account than the runtime's, UNAVAILABLE when the control plane is away and nothing is known.
     */
    Mono<AuthenticatedCaller> caller(HttpHeaders headers);

    /** Completes when the caller may. Errors: HandlerException FORBIDDEN, UNAVAILABLE when that can't be found out. */
    Mono<Void> allow(AuthenticatedCaller caller, Operation operation);

    /**
     * A change of state: asks whether the caller may, subscribes to {@code change} if so, and writes one audit record,
     * denied, failed or done. Errors: those of {@link #allow}, and of {@code change}.
     */
    default <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, RequestContext context,
            Mono<T> change) {
        return change(caller, operation, List.of(), context, change);
    }

    /**
     * The same for a change that touches more than one object, as one that takes content from a second branch: the caller
     * needs permission for each of {@code also}, too, before anything is changed. The audit record is that of {@code operation}.
     */
    <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context,
            Mono<T> change);
}

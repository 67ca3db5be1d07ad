package dev.culvert.appproxy.access;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/** Authenticates callers and authorises their operations. Callable from any thread; never blocks. */
public interface Access {
    /** Whether a control plane is configured. Without one all calls fail. */
    default boolean knowsCallers() {
        return true;
    }

    /**
     * Finds the user of the token in {@code Authorization} (bare, or after {@code Bearer}) or {@code
     * x-access-token}. Errors: HandlerException UNAUTHORIZED for a missing or unknown token, NOT_FOUND for a
     * user of another account than the runtime's, UNAVAILABLE when the control plane can't be reached and no
     * answer is cached.
     */
    Mono<AuthenticatedCaller> caller(HttpHeaders headers);

    /**
     * Completes when the caller has permission for the operation. Errors: HandlerException FORBIDDEN,
     * UNAVAILABLE when permission can't be determined.
     */
    Mono<Void> allow(AuthenticatedCaller caller, Operation operation);

    /**
     * Runs a change of state: checks permission, subscribes to {@code change} if it is granted, and writes
     * one audit record: denied, failed or done. Errors: those of {@link #allow}, and of {@code change}.
     */
    default <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, RequestContext context,
            Mono<T> change) {
        return change(caller, operation, List.of(), context, change);
    }

    /**
     * Runs a change that touches more than one object, such as one that reads a second branch. The caller
     * also needs permission for each of {@code also} before anything is changed. The audit record names
     * {@code operation}; that of a refusal the one that was refused.
     */
    <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context,
            Mono<T> change);
}

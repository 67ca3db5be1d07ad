package dev.culvert.appproxy.credentials;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import reactor.core.publisher.Mono;

/**
 * The Git tokens of a runtime and its users, one for each user and integration. Stored encrypted in the
 * cluster; never sent to the platform. Callable from any thread; never blocks the subscriber.
 */
public interface GitTokens {
    /**
     * The user's own token. Errors: HandlerException FORBIDDEN, with instructions, when the user registered
     * none. Always emits a value.
     */
    Mono<GitToken> of(AuthenticatedCaller caller, String integration);

    /**
     * The runtime's token. Errors: HandlerException UNAVAILABLE when none is configured. Always emits a
     * value.
     */
    Mono<GitToken> runtime(String integration);

    /**
     * Stores the user's token in place of an earlier one; durable when it completes. Errors: HandlerException
     * UNAVAILABLE when the store fails.
     */
    Mono<Void> put(AuthenticatedCaller caller, String integration, GitToken token);

    /** Stores the runtime's token in place of an earlier one, as {@link #put}. */
    Mono<Void> putRuntime(String integration, GitToken token);

    /** Deletes the user's token. Emits whether there was one. Errors: as {@link #put}. */
    Mono<Boolean> remove(AuthenticatedCaller caller, String integration);
}

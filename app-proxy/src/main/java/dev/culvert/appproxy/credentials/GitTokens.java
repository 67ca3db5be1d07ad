package dev.culvert.appproxy.credentials;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import reactor.core.publisher.Mono;

/**
 * The Git tokens of a runtime and its users, one a user and integration. Kept encrypted in the cluster; never sent to
 * the platform. Safe for use by any thread; never blocks the subscriber.
 */
public interface GitTokens {
    /** The user's own token. Errors: HandlerException FORBIDDEN, with what to do, when the user registered none. Never empty. */
    Mono<GitToken> of(AuthenticatedCaller caller, String integration);

    /** The runtime's token. Errors: HandlerException UNAVAILABLE when none is configured. Never empty. */
    Mono<GitToken> runtime(String integration);

    /** Keeps the user's token in place of an earlier one; durable when it completes. Errors: HandlerException UNAVAILABLE when the store fails. */
    Mono<Void> put(AuthenticatedCaller caller, String integration, GitToken token);

    /** Keeps the runtime's token in place of an earlier one; as {@link #put}. */
    Mono<Void> putRuntime(String integration, GitToken token);

    /** Forgets the user's token; completes with whether there was one. Errors: as {@link #put}. */
    Mono<Boolean> remove(AuthenticatedCaller caller, String integration);
}

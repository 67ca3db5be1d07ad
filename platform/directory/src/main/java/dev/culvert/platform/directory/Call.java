package dev.culvert.platform.directory;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import reactor.core.publisher.Mono;

/**
 * One call of the API.
 *
 * @param template its path
 * @param who may make it
 * @param work what answers it; its StoreExceptions become problems
 */
record Call(HttpMethod method, PathTemplate template, Who who, Work work) {
    Call(HttpMethod method, String template, Who who, Work work) {
        this(method, new PathTemplate(template), who, work);
    }

    /** Whose key it takes. */
    enum Who {
        /** Anybody with a key. */
        HOLDER,
        /** A user who administers the account. */
        ADMIN,
        /** A user who administers all accounts. */
        OPERATOR,
        /** A runtime. */
        RUNTIME
    }

    /** Answers a call. */
    @FunctionalInterface
    interface Work {
        Mono<? extends EdgeResponse> answer(Scope scope);
    }

    boolean changes() {
        return who != Who.RUNTIME && who != Who.HOLDER && !method.equals(HttpMethod.GET);
    }
}

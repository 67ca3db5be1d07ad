package dev.culvert.platform.directory;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import reactor.core.publisher.Mono;

/**
 * One call of the API.
 *
 * @param template the template of its path
 * @param who the permitted holders
 * @param work makes the response; its StoreExceptions become problems
 */
record Call(HttpMethod method, PathTemplate template, Who who, Work work) {
    Call(HttpMethod method, String template, Who who, Work work) {
        this(method, new PathTemplate(template), who, work);
    }

    /** The holders whose keys are accepted. */
    enum Who {
        /** Any holder of a key. */
        HOLDER,
        /** An administrator of the account. */
        ADMIN,
        /** An operator: an administrator of all accounts. */
        OPERATOR,
        /** A runtime. */
        RUNTIME
    }

    /** Makes the response to a call. */
    @FunctionalInterface
    interface Work {
        Mono<? extends EdgeResponse> answer(Scope scope);
    }

    boolean changes() {
        return who != Who.RUNTIME && who != Who.HOLDER && !method.equals(HttpMethod.GET);
    }
}

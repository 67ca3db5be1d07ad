package dev.culvert.platform.host.spi;

import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Requests into runtimes, through their public host: the tunnel's edge or the ingress. A runtime may be away
 * at any time, so nothing of the platform may depend on its answer.
 */
public interface RuntimeCalls {
    /**
     * Sends a request on behalf of a user, with a token that this runtime alone accepts. Redirects are not
     * followed. Errors: HandlerException with NOT_FOUND when the account has no such runtime or it has not
     * registered a URL; UPSTREAM_TIMEOUT, UPSTREAM_BAD_RESPONSE when it gives no answer or a larger one than
     * {@link Question#maxBytes}. Always emits a value.
     */
    Mono<Answer> call(PlatformCaller user, String runtime, Question question);

    /**
     * Sends an empty POST without credentials, to tell the runtime that something changed. Returns at once.
     * The nudges of one runtime and path within 200 ms become one; a failed one is not repeated.
     */
    void nudge(String account, String runtime, String path);

    /**
     * A request.
     *
     * @param path the path and query, from its first slash
     * @param body JSON, at most 64 KiB; null: none
     * @param maxBytes the largest accepted answer, at most 1 MiB
     * @param timeout from the call to the whole answer, at most a minute
     */
    record Question(HttpMethod method, String path, @Nullable String body, int maxBytes, Duration timeout) {}

    /**
     * An answer.
     *
     * @param body as UTF-8
     */
    record Answer(int status, String body) {}
}

package dev.culvert.platform.host.rest;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One call of a module's API.
 *
 * @param template the template of its path
 * @param who the permitted callers
 * @param summary what it does, for {@code /openapi.json}
 * @param takes the record of its body; null: it takes none
 * @param gives the record of its answer; null: 204
 * @param creates whether it answers 201
 * @param isList whether it gives a list of them, {@code {"items": […], "next": null}}
 * @param canForce whether {@code ?force=true} overrides a refusal
 * @param work makes the response; its StoreExceptions become problems
 */
public record RestCall(HttpMethod method, PathTemplate template, Who who, String summary,
        @Nullable Class<? extends Record> takes, @Nullable Class<? extends Record> gives,
        boolean creates, boolean isList, boolean canForce, Work work) {
    /** The callers whose credentials are accepted. */
    public enum Who {
        /** Any user or runtime. */
        HOLDER,
        /** An administrator of the account. Operators may name another account: {@code ?account=ID}. */
        ADMIN,
        /** An operator: an administrator of all accounts. */
        OPERATOR,
        /** A runtime. */
        RUNTIME
    }

    /** Makes the response to a call. */
    @FunctionalInterface
    public interface Work {
        Mono<? extends EdgeResponse> answer(CallScope scope);
    }

    /** A call without a body that answers 204. */
    public static RestCall of(HttpMethod method, String path, Who who, String summary, Work work) {
        return new RestCall(method, new PathTemplate(path), who, summary, null, null, false, false, false,
                work);
    }

    /** This call with a body. */
    public RestCall takes(Class<? extends Record> body) {
        return new RestCall(method, template, who, summary, body, gives, creates, isList, canForce, work);
    }

    /** This call with an answer. */
    public RestCall gives(Class<? extends Record> answer) {
        return new RestCall(method, template, who, summary, takes, answer, false, false, canForce, work);
    }

    /** This call with an answer of 201. */
    public RestCall creates(Class<? extends Record> made) {
        return new RestCall(method, template, who, summary, takes, made, true, false, canForce, work);
    }

    /** This call with an answer that lists these. */
    public RestCall lists(Class<? extends Record> item) {
        return new RestCall(method, template, who, summary, takes, item, false, true, canForce, work);
    }

    /** This call, which {@code ?force=true} makes do what it would refuse. */
    public RestCall forcible() {
        return new RestCall(method, template, who, summary, takes, gives, creates, isList, true, work);
    }

    /** Whether it changes what others see, which is audited. */
    boolean changes() {
        return who != Who.RUNTIME && who != Who.HOLDER && !method.equals(HttpMethod.GET);
    }
}

package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The version of an object for which permission was checked. A change is bound to this version. If another
 * client changed the object first, the newer version is judged as well.
 *
 * @param object the object as it was judged
 * @param judge completes when the caller may change an object like this one; errors: HandlerException
 *        FORBIDDEN, UNAVAILABLE
 */
public record Judged(JsonNode object, Function<JsonNode, Mono<Void>> judge) {

    /** The object behind our own change, which needs no permission again. */
    public Judged changed(JsonNode result) {
        return new Judged(result, judge);
    }

    /**
     * A newer version once it is judged. Errors: those of the judge; HandlerException CONFLICT for another
     * object of that name.
     */
    Mono<Judged> renewed(JsonNode newer) {
        return uid(newer).equals(uid(object))
                ? judge.apply(newer).thenReturn(new Judged(newer, judge))
                : Mono.error(HandlerException.of(Reason.CONFLICT,
                        "the object was replaced by another one of its name: try again"));
    }

    /**
     * Reads the object just before a change through an API that ignores versions, and judges a newer version
     * again. A change between this read and the API's own work stays undetected. Errors: those of the read
     * and of the judge; HandlerException CONFLICT if another object has that name.
     */
    public Mono<Judged> again(Mono<JsonNode> read) {
        return read.flatMap(newer -> same(newer) ? Mono.just(this) : renewed(newer));
    }

    private boolean same(JsonNode newer) {
        JsonNode version = newer.path("metadata").path("resourceVersion");
        return version.isTextual() && version.equals(object.path("metadata").path("resourceVersion"))
                && uid(newer).equals(uid(object));
    }

    private static JsonNode uid(JsonNode object) {
        return object.path("metadata").path("uid");
    }
}

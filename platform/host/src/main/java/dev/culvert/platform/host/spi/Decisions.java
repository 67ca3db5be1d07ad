package dev.culvert.platform.host.spi;

import java.util.Map;
import reactor.core.publisher.Mono;

/** Decides what callers may do, by the rules of their account. What no rule allows is denied. */
public interface Decisions {
    /**
     * Completes if {@code caller} may do {@code action} on an object of {@code entity} with these attributes.
     * Errors: HandlerException with FORBIDDEN; UNAVAILABLE when it cannot be decided;
     * IllegalArgumentException for words that no rule knows.
     */
    Mono<Void> require(PlatformCaller caller, String entity, String action, Map<String, String> attributes);
}

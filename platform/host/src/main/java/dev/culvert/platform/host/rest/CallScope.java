package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.platform.host.spi.PlatformCaller;
import java.util.Map;
import java.util.function.Consumer;

/**
 * An authorised call.
 *
 * @param account the account: the caller's own, unless an operator named another
 * @param isForced whether the caller overrides a refusal, by {@code ?force=true}
 * @param content receives what the call changes, for its audit record; no secrets
 * @param segments the values of the path's variable segments
 */
public record CallScope(PlatformCaller caller, String account, EdgeRequest request,
        boolean isForced, Consumer<String> content, Map<String, String> segments) {
    /** The value of a variable segment. */
    public String segment(String name) {
        return segments.getOrDefault(name, "");
    }
}

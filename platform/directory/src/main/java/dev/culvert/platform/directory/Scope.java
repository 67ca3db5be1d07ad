package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.platform.directory.store.KeyOwner;
import java.util.Map;

/**
 * An authorised call.
 *
 * @param holder the caller
 * @param account the account: the caller's own, unless an operator named another
 * @param segments the values of the path's variable segments
 */
record Scope(KeyOwner holder, String account, EdgeRequest request, Map<String, String> segments) {
    String segment(String name) {
        return segments.getOrDefault(name, "");
    }
}

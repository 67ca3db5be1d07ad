package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.platform.directory.store.KeyOwner;
import java.util.Map;

/**
 * A call of somebody who may make it.
 *
 * @param holder who calls
 * @param account in which account: their own, unless an operator named another
 * @param segments the path's varying segments
 */
record Scope(KeyOwner holder, String account, EdgeRequest request, Map<String, String> segments) {
    String segment(String name) {
        return segments.getOrDefault(name, "");
    }
}

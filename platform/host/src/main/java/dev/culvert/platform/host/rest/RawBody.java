package dev.culvert.platform.host.rest;

import java.util.Set;

/**
 * A body that a module reads itself: YAML, or bytes over which somebody has made a signature.
 *
 * @param mediaTypes the accepted media types, without parameters; empty: any
 * @param maxBytes its largest size
 */
public record RawBody(Set<String> mediaTypes, int maxBytes) {
    public RawBody {
        mediaTypes = Set.copyOf(mediaTypes);
    }
}

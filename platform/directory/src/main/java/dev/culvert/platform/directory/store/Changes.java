package dev.culvert.platform.directory.store;

import java.util.List;

/**
 * What changed in an account since a client looked last.
 *
 * @param next where to go on
 * @param reset whether more changed than is remembered: everything may have
 * @param more whether there is more to read at once
 */
public record Changes(long next, boolean reset, boolean more, List<Change> changes) {
    public Changes {
        changes = List.copyOf(changes);
    }
}

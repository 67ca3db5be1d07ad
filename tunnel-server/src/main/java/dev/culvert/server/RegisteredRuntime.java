package dev.culvert.server;

import java.time.Instant;
import java.util.List;

/**
 * A runtime that the server knows.
 *
 * @param id random; a runtime deleted and made again has another, so that old certificates stay dead
 * @param name account and name
 * @param host its own host below the edge's domain, in lower case
 * @param hosts its custom hosts, in lower case, in the order given
 * @param created when it was made, in whole milliseconds
 */
public record RegisteredRuntime(String id, RuntimeName name, String host, List<String> hosts,
        Instant created) {
    public RegisteredRuntime {
        hosts = List.copyOf(hosts);
    }
}

package dev.culvert.server;

import java.time.Instant;
import java.util.List;

/**
 * A runtime that the server knows.
 *
 * @param id random; a runtime deleted and made again has another
 * @param identity random; what its clients' certificates name. A revocation gives it another, so that old ones stay dead
 * @param name account and name
 * @param host its own host below the edge's domain, in lower case
 * @param hosts its custom hosts, in lower case, in the order given
 * @param created when it was made, in whole milliseconds
 */
public record RegisteredRuntime(String id, String identity, RuntimeName name, String host, List<String> hosts,
        Instant created) {
    public RegisteredRuntime {
        hosts = List.copyOf(hosts);
    }

    /** The same with another identity. */
    RegisteredRuntime withIdentity(String another) {
        return new RegisteredRuntime(id, another, name, host, hosts, created);
    }

    /** The same with other custom hosts. */
    RegisteredRuntime withHosts(List<String> others) {
        return new RegisteredRuntime(id, identity, name, host, others, created);
    }
}

package dev.culvert.server.runtime;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A runtime that the server knows.
 *
 * @param id random; a runtime deleted and made again has another
 * @param identity random; what its clients' certificates name. A revocation gives it another, so that old ones stay dead
 * @param name account and name
 * @param host its own host below the edge's domain, in lower case
 * @param hosts its custom hosts, in lower case, in the order given
 * @param created when it was made, in whole milliseconds
 * @param connected when a client of this identity connected first, in whole milliseconds; null: never
 * @param limits what it may use of the edge, where that differs from what others may
 * @param access who may call it
 */
public record RegisteredRuntime(String id, String identity, RuntimeName name, String host, List<String> hosts,
        Instant created, @Nullable Instant connected, OwnLimits limits, AccessRules access) {
    public RegisteredRuntime {
        hosts = List.copyOf(hosts);
    }

    /** One that never had a client. */
    public RegisteredRuntime(String id, String identity, RuntimeName name, String host, List<String> hosts,
            Instant created) {
        this(id, identity, name, host, hosts, created, null, OwnLimits.NONE, AccessRules.NONE);
    }

    /** The same with another identity, of which no client has connected. */
    public RegisteredRuntime withIdentity(String another) {
        return new RegisteredRuntime(id, another, name, host, hosts, created, null, limits, access);
    }

    /** The same with other custom hosts. */
    public RegisteredRuntime withHosts(List<String> others) {
        return new RegisteredRuntime(id, identity, name, host, others, created, connected, limits, access);
    }

    /** The same, once a client has connected. */
    public RegisteredRuntime withConnected(Instant first) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, first, limits, access);
    }

    /** The same with other limits of its own. */
    public RegisteredRuntime withLimits(OwnLimits own) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, own, access);
    }

    /** The same for other callers. */
    public RegisteredRuntime withAccess(AccessRules rules) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, limits, rules);
    }
}

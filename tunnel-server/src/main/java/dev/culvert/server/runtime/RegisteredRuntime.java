package dev.culvert.server.runtime;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A runtime registered at the server.
 *
 * @param id random; a runtime that is deleted and created again has another
 * @param identity random; named by its clients' certificates. A revocation replaces it, so old certificates
 *        stay invalid
 * @param name account and name
 * @param host its own host below the edge's domain, in lower case
 * @param hosts its custom hosts, in lower case, in the order given
 * @param created when it was created, in whole milliseconds
 * @param connected when a client of this identity connected first, in whole milliseconds; null: never
 * @param limits its own edge limits, where they differ from the server's
 * @param access its access rules
 * @param upstream the upstream of a hosted runtime, which has no tunnel, no tokens and no clients; null: it
 *     has a tunnel
 * @param origin the call that created it, if that call may be repeated; null: it may not
 */
public record RegisteredRuntime(String id, String identity, RuntimeName name, String host, List<String> hosts,
        Instant created, @Nullable Instant connected, OwnLimits limits, AccessRules access,
        @Nullable RuntimeUpstream upstream, @Nullable RuntimeOrigin origin) {
    public RegisteredRuntime {
        hosts = List.copyOf(hosts);
    }

    /** Makes a runtime that never had a client. */
    public RegisteredRuntime(String id, String identity, RuntimeName name, String host, List<String> hosts,
            Instant created) {
        this(id, identity, name, host, hosts, created, null, OwnLimits.NONE, AccessRules.NONE, null, null);
    }

    /** Returns a copy with another identity, which no client has used yet. */
    public RegisteredRuntime withIdentity(String another) {
        return new RegisteredRuntime(id, another, name, host, hosts, created, null, limits, access,
                upstream, origin);
    }

    /** Returns a copy with other custom hosts. */
    public RegisteredRuntime withHosts(List<String> others) {
        return new RegisteredRuntime(id, identity, name, host, others, created, connected, limits, access,
                upstream, origin);
    }

    /** Returns a copy with the time of the first connection. */
    public RegisteredRuntime withConnected(Instant first) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, first, limits, access,
                upstream, origin);
    }

    /** Returns a copy with other limits of its own. */
    public RegisteredRuntime withLimits(OwnLimits own) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, own, access,
                upstream, origin);
    }

    /** Returns a copy with other access rules. */
    public RegisteredRuntime withAccess(AccessRules rules) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, limits, rules,
                upstream, origin);
    }

    /** Returns a copy with another upstream. */
    public RegisteredRuntime withUpstream(RuntimeUpstream other) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, limits, access,
                other, origin);
    }

    /** Returns a copy with the call that created it. */
    public RegisteredRuntime withOrigin(RuntimeOrigin by) {
        return new RegisteredRuntime(id, identity, name, host, hosts, created, connected, limits, access,
                upstream, by);
    }
}

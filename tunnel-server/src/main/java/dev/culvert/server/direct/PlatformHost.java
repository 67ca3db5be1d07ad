package dev.culvert.server.direct;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RuntimeUpstream;

/**
 * The host of the edge that leads to the platform's own service. It is no runtime: it is in no list and in no
 * database, and what changes for all runtimes does not change it.
 *
 * @param host its name, in lower case
 * @param limits all of its limits
 * @param rules its access rules; none: the service decides about its callers
 */
public record PlatformHost(String host, RuntimeUpstream upstream, OwnLimits limits, AccessRules rules) {
    /** Its name in metrics and logs, and its key. No runtime's: those have a slash or are random. */
    public static final String NAME = "platform";
}

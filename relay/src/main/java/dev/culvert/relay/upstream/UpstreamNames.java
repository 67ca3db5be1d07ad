package dev.culvert.relay.upstream;

import dev.culvert.config.HostPort;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;

/**
 * Maps the names of upstreams to the targets to dial.
 *
 * @param table the targets that take precedence over DNS, by {@code host} or {@code host:port}; hosts in
 *     lower case
 * @param servers the DNS servers; empty: those of the system
 */
public record UpstreamNames(Map<String, List<HostPort>> table, List<InetSocketAddress> servers) {
    public static final UpstreamNames DNS = new UpstreamNames(Map.of(), List.of());

    /** Returns the targets of an upstream: addresses, or names to resolve with DNS. */
    public List<HostPort> targets(UpstreamAddress upstream) {
        HostPort plain = new HostPort(upstream.host(), upstream.port());
        if (table.isEmpty()) {
            return List.of(plain);
        }
        List<HostPort> exact = table.get(plain.toString());
        return exact != null ? exact : table.getOrDefault(upstream.host(), List.of(plain));
    }
}

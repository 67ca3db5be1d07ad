package dev.culvert.routing;

import dev.culvert.config.ConfigException;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.upstream.UpstreamAddress;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The upstreams of raw connections. Connections to unlisted names are refused. Immutable, safe for use by any
 * thread.
 */
final class TcpTable {
    private static final int MAX_ROUTES = 1000;

    private final Map<String, UpstreamAddress> byName;
    private final Map<String, UpstreamAddress> byHost;

    private TcpTable(Map<String, UpstreamAddress> byName, Map<String, UpstreamAddress> byHost) {
        this.byName = Map.copyOf(byName);
        this.byHost = Map.copyOf(byHost);
    }

    /** Builds the table of a configuration. Throws ConfigException for the key {@code tcp}. */
    static TcpTable of(List<TcpRouteConfig> routes) {
        if (routes.size() > MAX_ROUTES) {
            throw new ConfigException("tcp", "at most " + MAX_ROUTES + " upstreams");
        }
        Map<String, UpstreamAddress> names = new HashMap<>();
        Map<String, UpstreamAddress> hosts = new HashMap<>();
        for (TcpRouteConfig route : routes) {
            var address = new UpstreamAddress(false, false, route.to().host().toLowerCase(Locale.ROOT),
                    route.to().port());
            UpstreamAddress before = route.name() != null
                    ? names.put(route.name(), address)
                    : hosts.put(String.valueOf(route.host()), address);
            if (before != null) {
                throw new ConfigException("tcp", "each name and host once; "
                        + (route.name() != null ? route.name() : route.host()) + " stands there twice");
            }
        }
        return new TcpTable(names, hosts);
    }

    /** The upstream of a raw connection; null if none matches. A complete host precedes a label. */
    @Nullable
    UpstreamAddress match(Http2Headers fields) {
        UpstreamAddress whole = byHost.get(String.valueOf(fields.authority()));
        CharSequence service = fields.get(RelayRequest.SERVICE);
        return whole != null || service == null ? whole : byName.get(service.toString());
    }
}

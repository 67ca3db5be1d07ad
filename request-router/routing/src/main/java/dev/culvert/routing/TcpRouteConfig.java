package dev.culvert.routing;

import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One upstream of raw connections. TLS runs end to end between the caller and the upstream.
 *
 * @param name the label below a host of the runtime that selects the upstream; null if {@code host} is given
 * @param host the complete host of the runtime that selects the upstream, in lower case; null if {@code name}
 *     is given
 * @param to the address of the upstream; {@code resolve} applies
 */
public record TcpRouteConfig(
        @Setting(value = "Label below the runtime's host by which callers ask for it: postgres of postgres.acme-prod.tunnels.example.com", accepts = "a DNS label in lower case") @Nullable String name,
        @Setting(value = "Host of the runtime by which callers ask for it, instead of a name", accepts = "a DNS name, as k8s.example.com") @Nullable String host,
        @Setting(value = "The upstream", accepts = "host:port, as postgres.db.svc:5432") HostPort to) {

    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern HOST = Pattern.compile("[a-z0-9_-]{1,63}(\\.[a-z0-9_-]{1,63}){0,126}");

    public TcpRouteConfig {
        if ((name == null) == (host == null)) {
            throw new ConfigException("name", "either a name, as postgres, or a host, as k8s.example.com");
        }
        if (name != null && !NAME.matcher(name).matches()) {
            throw new ConfigException("name", "a DNS label in lower case, as postgres");
        }
        if (host != null) {
            host = host.toLowerCase(Locale.ROOT);
            if (!HOST.matcher(host).matches()) {
                throw new ConfigException("host", "a DNS name without port, as k8s.example.com");
            }
        }
        if (to.port() == 0) {
            throw new ConfigException("to", "host:port with a port of 1..65535, as postgres.db.svc:5432");
        }
    }

    /** An upstream for a label below the runtime's hosts. */
    public static TcpRouteConfig named(String name, HostPort to) {
        return new TcpRouteConfig(name, null, to);
    }
}

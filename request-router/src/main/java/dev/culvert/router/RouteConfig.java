package dev.culvert.router;

import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.Setting;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One route. {@code {namespace}} and {@code {eventSource}} may stand for whole segments of the path, both or neither,
 * and are filled into the host of the upstream.
 *
 * @param path {@code /x/} matches {@code /x} and everything below
 * @param to the upstream's URL; a path in it is put before the request's
 * @param stripPrefix whether the raw segments of the route's path are dropped from what is sent
 * @param hostHeader the Host that the upstream sees; null: the caller's
 * @param cors what a browser is told while the upstream is away; null: nothing, but for {@code /app-proxy/}
 * @param delivery null: durable below {@code /webhooks/}, direct elsewhere
 */
public record RouteConfig(
        @Setting(value = "Path that is matched, with everything below it", accepts = "a path as /x/ or /webhooks/{namespace}/{eventSource}/") String path,
        @Setting(value = "The upstream's URL", accepts = "http://host[:port], https://host[:port] or h2c://host[:port]") String to,
        @Setting(value = "Whether the segments of the path are dropped from what is sent", byDefault = "false") boolean stripPrefix,
        @Setting("Host that the upstream sees, instead of the caller's") @Nullable String hostHeader,
        @Nullable Cors cors,
        @Setting("Whether webhooks are stored before they are delivered; durable below /webhooks/, direct elsewhere. No effect yet: all are direct") @Nullable Delivery delivery) {

    private static final String WEBHOOKS = "/webhooks/";
    private static final String APP_PROXY = "/app-proxy/";
    private static final Pattern HOST = Pattern
            .compile("[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\\[[0-9A-Fa-f:.]+](:[0-9]{1,5})?");

    public RouteConfig {
        PathPattern pattern = PathPattern.parse(path);
        UpstreamTemplate.parse(to).requireVariablesOf(pattern);
        if (hostHeader != null && !HOST.matcher(hostHeader).matches()) {
            throw new ConfigException("hostHeader", "a host, as argo-server.argo.svc:2746");
        }
    }

    /** A route with the defaults of everything else. */
    public static RouteConfig of(String path, String to) {
        return new RouteConfig(path, to, false, null, null, null);
    }

    /** Whether webhooks on this route go through an inbox where there is one. */
    public boolean durable() {
        return delivery == null ? path.startsWith(WEBHOOKS) : delivery == Delivery.DURABLE;
    }

    /** What a browser is told while the upstream is away, or null: nothing. */
    @Nullable
    Cors browserAnswer() {
        return cors == null && path.equals(APP_PROXY) ? new Cors(List.of()) : cors;
    }

    /** How webhooks reach the upstream. */
    public enum Delivery {
        /** The caller waits for the upstream's answer. */
        DIRECT,
        /** Stored first, then delivered until it succeeds. */
        DURABLE
    }

    /**
     * What the router answers to browsers in place of an upstream that is away.
     *
     * @param allowOrigins origins that may send credentials; empty: any origin may read, without credentials
     */
    public record Cors(
            @Setting(value = "Origins of browser clients; others, or all when empty, get * without credentials", accepts = "scheme://host[:port] each, as https://app.example.com", byDefault = "") List<String> allowOrigins) {
        private static final Pattern ORIGIN = Pattern
                .compile("[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:[0-9]{1,5})?");

        public Cors {
            allowOrigins = allowOrigins.stream().map(origin -> origin.toLowerCase(Locale.ROOT)).toList();
            for (String origin : allowOrigins) {
                if (!ORIGIN.matcher(origin).matches()) {
                    throw new ConfigException("allowOrigins",
                            "scheme://host[:port] without a path, as https://app.example.com");
                }
            }
        }
    }
}

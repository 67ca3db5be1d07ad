package dev.culvert.routing;

import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.http.path.PathPattern;
import dev.culvert.http.path.RawPath;
import dev.culvert.relay.route.AnnouncedRoute;
import dev.culvert.relay.route.RouteRule;
import dev.culvert.relay.route.SigningSecrets;
import dev.culvert.relay.route.SourceList;
import dev.culvert.relay.route.Verification;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One route. A variable such as {@code {tenant}} matches a whole segment of the path and may occur in the
 * host of the upstream. A path has both {@code {namespace}} and {@code {eventSource}} or neither. The webhook
 * policy applies to their values.
 *
 * @param path the path; {@code /x/} matches {@code /x} and all paths below
 * @param to the upstream's URL; its path is prepended to that of the request
 * @param host a name without port, or {@code *.name} for all names below it; null: any
 * @param methods the matching methods; empty: all
 * @param headers the required fields: values by field name, {@code *} for any value
 * @param stripPrefix whether the raw segments of the route's path are removed from the forwarded path
 * @param rewrite replaces the raw segments of the route's path; null: they stay
 * @param hostHeader the Host that is sent to the upstream; null: the caller's
 * @param cors the response to browsers while the upstream is unavailable; null: none, except for {@code
 *     /app-proxy/}
 * @param delivery the delivery of webhooks; null: durable below {@code /webhooks/}, direct elsewhere
 * @param order the order of durable webhooks
 * @param verify the verification of the signatures of durable webhooks; null: none
 * @param maxBody the maximum body; null: no limit, but 25 MiB for durable webhooks
 * @param timeouts the time-outs; null: the defaults
 * @param retries the number of further attempts of requests that may be repeated, 0..5
 * @param sources the address blocks of permitted callers; empty: all
 * @param tls the TLS settings of an {@code https} upstream; null: those of the router
 */
public record RouteConfig(
        @Setting(value = "Path that is matched, with all paths below it", accepts = "a path as /x/ or /webhooks/{namespace}/{eventSource}/") String path,
        @Setting(value = "The upstream's URL; its host may contain variables of path", accepts = "http://host[:port], https://host[:port] or h2c://host[:port]") String to,
        @Setting(value = "Host that is matched; default: any", accepts = "a name without port, as app.example.com, or *.example.com") @Nullable String host,
        @Setting(value = "Methods that are matched; empty: all", accepts = "methods in upper case, as GET", byDefault = "") List<String> methods,
        @Setting(value = "Required header fields, each with this value or, for *, any value", accepts = "name: value, as x-env: staging") Map<String, String> headers,
        @Setting(value = "Whether the segments of the path are removed from the forwarded path", byDefault = "false") boolean stripPrefix,
        @Setting(value = "Path that is sent in place of the route's own", accepts = "a path as /api/v2/") @Nullable String rewrite,
        @Setting(value = "Host that the upstream sees, instead of the caller's; origins, redirects and cookies are exchanged with it", accepts = "rewrite (that of to), or a host as argo-server.argo.svc:2746") @Nullable String hostHeader,
        @Nullable Cors cors,
        @Setting("Whether webhooks are stored before they are delivered; durable below /webhooks/, direct elsewhere") @Nullable Delivery delivery,
        @Setting(value = "Whether durable webhooks of one source are delivered in their order", byDefault = "source") Order order,
        @Nullable Verify verify,
        @Setting("Largest request body; default: no limit, but 25MiB for durable webhooks") @Nullable ByteSize maxBody,
        @Nullable Timeouts timeouts,
        @Setting(value = "Further attempts when the upstream refused the connection, or closed it during a request that may be repeated", byDefault = "0", accepts = "0..5") int retries,
        @Setting(value = "Addresses of permitted callers, behind the trusted proxies; empty: all", accepts = "blocks as 192.0.2.0/24", byDefault = "") List<String> sources,
        @Nullable Tls tls) {

    /** The value of {@code hostHeader} for the host of {@code to}. */
    static final String REWRITE = "rewrite";
    private static final String POST = "POST";
    private static final String WEBHOOKS = "/webhooks/";
    private static final String APP_PROXY = "/app-proxy/";
    private static final int MAX_RETRIES = 5;
    private static final Pattern HOST = Pattern
            .compile("[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\\[[0-9A-Fa-f:.]+](:[0-9]{1,5})?");

    public RouteConfig {
        methods = List.copyOf(methods);
        headers = Map.copyOf(headers);
        sources = List.copyOf(sources);
        RouteRule rule = RouteRule.of(path, host, methods, headers);
        UpstreamTemplate.parse(to).requireVariablesOf(rule.path());
        SourceList.parse(sources);
        checkHostHeader(hostHeader);
        if (rewrite != null && (stripPrefix || !rewrite.startsWith("/") || !rewrite.endsWith("/")
                || rewrite.indexOf('?') >= 0 || !RawPath.wellFormed(rewrite))) {
            throw new ConfigException("rewrite",
                    "a path with slash at both ends, as /api/v2/, without stripPrefix");
        }
        if (retries < 0 || retries > MAX_RETRIES) {
            throw new ConfigException("retries", "0.." + MAX_RETRIES);
        }
        if (tls != null && !to.regionMatches(true, 0, "https:", 0, 6)) {
            throw new ConfigException("tls", "none where to is no https:// URL");
        }
        if (maxBody != null && maxBody.bytes() < 1) {
            throw new ConfigException("maxBody", "a size of 1 byte or more");
        }
    }

    /** Checks a {@code hostHeader}, of a route or beside {@code to}. Throws ConfigException. */
    public static void checkHostHeader(@Nullable String hostHeader) {
        if (hostHeader != null && !HOST.matcher(hostHeader).matches()) {
            throw new ConfigException("hostHeader",
                    "rewrite, for the host of to, or a host, as argo-server.argo.svc:2746");
        }
    }

    /** A route without TLS settings of its own. */
    public RouteConfig(String path, String to, @Nullable String host, List<String> methods,
            Map<String, String> headers, boolean stripPrefix, @Nullable String rewrite,
            @Nullable String hostHeader, @Nullable Cors cors, @Nullable Delivery delivery, Order order,
            @Nullable Verify verify, @Nullable ByteSize maxBody, @Nullable Timeouts timeouts, int retries,
            List<String> sources) {
        this(path, to, host, methods, headers, stripPrefix, rewrite, hostHeader, cors, delivery, order,
                verify, maxBody, timeouts, retries, sources, null);
    }

    /** A route that matches by its path only. */
    public RouteConfig(String path, String to, boolean stripPrefix, @Nullable String hostHeader,
            @Nullable Cors cors,
            @Nullable Delivery delivery) {
        this(path, to, null, List.of(), Map.of(), stripPrefix, null, hostHeader, cors, delivery, Order.SOURCE,
                null, null, null, 0, List.of());
    }

    /** A route with the defaults of all other settings. */
    public static RouteConfig of(String path, String to) {
        return new RouteConfig(path, to, false, null, null, null);
    }

    /** Whether webhooks on this route are stored in an inbox, if there is one. */
    public boolean durable() {
        return delivery == null ? path.startsWith(WEBHOOKS) : delivery == Delivery.DURABLE;
    }

    /** The maximum body in bytes of a request with this method; Long.MAX_VALUE: no limit. */
    long largestBody(CharSequence method) {
        if (maxBody != null) {
            return maxBody.bytes();
        }
        return durable() && POST.contentEquals(method) ? AnnouncedRoute.USUAL_BODY_BYTES : Long.MAX_VALUE;
    }

    /** The rule that requests must match. */
    RouteRule rule() {
        return RouteRule.of(path, host, methods, headers);
    }

    /** Whether the secrets of the webhooks are shared with the tunnel server. */
    boolean sharesSecrets() {
        return verify != null && verify.shareWithServer() && durable();
    }

    /**
     * The data that an inbox needs, including the secrets.
     *
     * @param secrets returns the shared secrets of a file
     */
    AnnouncedRoute announced(Function<Path, SigningSecrets> secrets) {
        PathPattern pattern = PathPattern.parse(path);
        UpstreamTemplate upstream = UpstreamTemplate.parse(to);
        upstream.requireVariablesOf(pattern);
        return new AnnouncedRoute(rule(), durable(), order == Order.SOURCE,
                maxBody == null ? AnnouncedRoute.USUAL_BODY_BYTES : maxBody.bytes(),
                verify == null
                        ? null
                        : new Verification(verify.provider(), verify.secretFile(),
                                sharesSecrets() ? secrets.apply(verify.secretFile()) : null),
                SourceList.parse(sources), upstream.host());
    }

    /** The CORS settings of the response to browsers while the upstream is unavailable; null for none. */
    @Nullable
    Cors browserAnswer() {
        return cors == null && path.equals(APP_PROXY) ? new Cors(List.of()) : cors;
    }

    /**
     * The TLS settings of the upstream.
     *
     * @param ca the file of the authorities that may issue the upstream's certificate
     */
    public record Tls(
            @Setting("PEM file of the authorities that the upstream's certificate may come from, instead of upstreams.ca") Path ca) {}

    /** The way in which webhooks are delivered to the upstream. */
    public enum Delivery {
        /** The caller waits for the upstream's response. */
        DIRECT,
        /** The webhook is stored first and then delivered until it succeeds. */
        DURABLE
    }

    /** The order in which durable webhooks are delivered. */
    public enum Order {
        /** Webhooks of one source are delivered one after the other. */
        SOURCE,
        /** Webhooks are delivered without an order. */
        NONE
    }

    /**
     * The verification of signatures.
     *
     * @param provider the signing provider
     * @param secretFile the file of the secrets, one on each line; reloaded when it changes
     * @param shareWithServer whether the secrets are shared with the tunnel server, which stores the webhooks
     *     of a tunnel
     */
    public record Verify(
            @Setting("Who signs the webhooks") Verification.Provider provider,
            @Setting("File of the secret that the provider was given, or of up to 8, a line each; read again when it changes") Path secretFile,
            @Setting(value = "Whether the secrets are shared with the tunnel server, so that it verifies webhooks before it stores them: webhooks through a tunnel are verified nowhere else", byDefault = "false") boolean shareWithServer) {}

    /**
     * Time-outs of a route's exchanges.
     *
     * @param head the time from the last request byte to the response's head; null: 60 s
     * @param idle the time without a byte in either direction after the head; null: no limit
     */
    public record Timeouts(
            @Setting("From the last byte of the request to the head of the response; default: 60s") @Nullable Duration head,
            @Setting("Time without a byte in either direction after the response has begun; default: no limit") @Nullable Duration idle) {
        public Timeouts {
            if (head != null && !head.isPositive()) {
                throw new ConfigException("head", "a duration of 1ms or more");
            }
            if (idle != null && !idle.isPositive()) {
                throw new ConfigException("idle", "a duration of 1ms or more");
            }
        }
    }

    /**
     * The router's response to browsers in place of an unavailable upstream.
     *
     * @param allowOrigins the origins that may send credentials; empty: any origin may read, without
     *     credentials
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

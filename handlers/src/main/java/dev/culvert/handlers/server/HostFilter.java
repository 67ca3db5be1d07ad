package dev.culvert.handlers.server;

import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * Refuses requests for a host that is not the listener's with 421 (RFC 9110 §15.5.20), so that no web page
 * reads from it by DNS rebinding. The probes {@code /healthz} and {@code /readyz} are answered for any host:
 * balancers send hosts of their own, and the answers hold nothing to protect. Stands in front of all other
 * filters.
 */
public final class HostFilter implements EdgeFilter {
    private static final Set<String> PROBES = Set.of("/healthz", "/readyz");

    private final AllowedHosts hosts;
    private final Problem refusal;

    /** @param key the setting that lists further names, for the answer: {@code admin.hosts} */
    public HostFilter(AllowedHosts hosts, String key) {
        this.hosts = hosts;
        this.refusal = Problem.of(Cause.MISDIRECTED_REQUEST, Hop.EDGE,
                "this listener answers to addresses, localhost and the names in " + key);
    }

    @Override
    public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
        return PROBES.contains(request.path()) || hosts.has(request.headers().get(HttpHeaderNames.HOST))
                ? next.handle(request)
                : Mono.error(() -> new EdgeException(refusal));
    }
}

package dev.culvert.routing;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamFigures;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.relay.upstream.UpstreamTrust;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Sends every exchange to one upstream, the {@code to:} of a client. Has no routes and no policy, and
 * forwards paths unchanged. May be shared by all event loops; each loop has its own connections.
 */
public final class SingleUpstream implements Relay, AutoCloseable {
    /** A router's default limits, plus 8 KiB and 32 fields: the upstream may be a router, which adds some. */
    private static final int HEAD_BYTES = UpstreamLimits.HEAD_BYTES + (8 << 10);
    private static final int HEAD_FIELDS = UpstreamLimits.HEAD_FIELDS + 32;

    private final UpstreamAddress address;
    private final String prefix;
    private final @Nullable HostExchange hosts;
    private final Upstreams upstreams;
    private final TlsLink tls;
    private final UpstreamFigures allFigures = new UpstreamFigures();
    private final RouteFigures figures = allFigures.of("/");

    private SingleUpstream(UpstreamTemplate to, @Nullable String hostHeader, Upstreams upstreams,
            TlsLink tls) {
        this.tls = tls;
        this.address = to.address();
        this.hosts = hostHeader == null ? null : HostExchange.of(address, hostHeader);
        this.prefix = to.prefix();
        this.upstreams = upstreams;
    }

    /**
     * Creates a relay to an {@code http://}, {@code https://} or {@code h2c://} URL. Its path is prepended to
     * that of each request. Throws ConfigException for the key {@code to}.
     */
    public static SingleUpstream create(URI to) {
        return create(to, UpstreamLimits.defaults().heads(HEAD_BYTES, HEAD_FIELDS));
    }

    /** As {@link #create(URI)}, with other limits. */
    public static SingleUpstream create(URI to, UpstreamLimits limits) {
        return create(to, limits, new Manner(null, null, false));
    }

    /**
     * How the upstream is spoken to.
     *
     * @param hostHeader the Host that it sees, or {@code rewrite}; null: the caller's
     * @param ca the file of authorities that may sign its certificate; null: the system's
     * @param insecure whether its certificate is not verified
     */
    public record Manner(@Nullable String hostHeader, @Nullable Path ca, boolean insecure) {}

    /** As {@link #create(URI)}, in another manner. Reads the file of authorities. */
    public static SingleUpstream create(URI to, Manner manner) {
        return create(to, UpstreamLimits.defaults().heads(HEAD_BYTES, HEAD_FIELDS), manner);
    }

    private static SingleUpstream create(URI to, UpstreamLimits limits, Manner manner) {
        UpstreamTemplate upstream = UpstreamTemplate.of(to);
        TlsLink link = TlsLink.of("upstream", "to", PostQuantum.PREFER);
        UpstreamTls tls = !upstream.tls() || manner.ca == null
                ? UpstreamTls.system(upstream.tls(), link)
                : UpstreamTls.inFile(manner.ca, link);
        if (manner.insecure && upstream.tls()) {
            tls = UpstreamTls.unverified(link);
        }
        return create(upstream, limits, manner.hostHeader, tls, link);
    }

    static SingleUpstream create(UpstreamTemplate upstream, UpstreamLimits limits,
            @Nullable UpstreamTls tls, TlsLink link) {
        return create(upstream, limits, null, tls, link);
    }

    private static SingleUpstream create(UpstreamTemplate upstream, UpstreamLimits limits,
            @Nullable String hostHeader, @Nullable UpstreamTls tls, TlsLink link) {
        return new SingleUpstream(upstream, hostHeader,
                new Upstreams(limits, UpstreamNames.DNS, UpstreamTrust.of(tls)), link);
    }

    /** Registers the meters of requests and of TLS with the upstream. */
    public void shown(Telemetry telemetry) {
        tls.shown(telemetry);
        allFigures.shown(telemetry);
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        if (request.kind() == RelayRequest.Kind.TCP) {
            response.fail(UpstreamProblem.NO_TCP);
            return SwallowingSink.INSTANCE;
        }
        String path = String.valueOf(request.fields().path());
        // RFC 9110 §7.1: the asterisk form concerns the whole server and has no prefix
        String target = path.equals("*") ? path : prefix + path;
        if (hosts == null) {
            return upstreams.open(request, new UpstreamCall(address, target, figures), response);
        }
        return upstreams.open(request,
                new UpstreamCall(address, target, hosts.hostHeader(), null, null, figures),
                HostExchangeSink.of(hosts, request, response));
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any
     * thread.
     */
    public long bufferedBytes() {
        return upstreams.buffered().sum();
    }

    /**
     * The number of connections to the upstream, including those being established. Callable from any thread.
     */
    public int openConnections() {
        return upstreams.connections().intValue();
    }

    /**
     * Refuses new exchanges with {@code draining} and closes idle connections. Running exchanges continue.
     * Callable from any thread.
     */
    public void drain() {
        upstreams.drain();
    }

    /**
     * Ends all exchanges at once; they fail with {@code draining}. Callable from any thread. Returns before
     * the exchanges have ended.
     */
    @Override
    public void close() {
        upstreams.close();
    }
}

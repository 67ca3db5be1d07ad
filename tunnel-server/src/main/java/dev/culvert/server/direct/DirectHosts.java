package dev.culvert.server.direct;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.Pem;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.Relay;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.relay.upstream.UpstreamTrust;
import dev.culvert.server.runtime.DirectUpstreams;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RuntimeUpstream;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * The connections to the upstreams of direct hosts. Each host has its own, so that an upstream that hangs
 * takes no connections and no places in a queue from another one. Bounded by the number of hosts. Any thread.
 */
public final class DirectHosts implements DirectUpstreams {
    /** The time that requests have to end at an upstream that was replaced. */
    private static final Duration LAST_REQUESTS = Duration.ofMinutes(1);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);

    private final @Nullable PlatformHost platform;
    private final UpstreamLimits limits;
    private final Telemetry telemetry;
    private final Map<String, Known> byId = new ConcurrentHashMap<>();
    /** The contexts by their authorities, as long as some host uses them. */
    private final Cache<String, UpstreamTls> trusts = Caffeine.newBuilder()
            .weakValues()
            .executor(Runnable::run)
            .build();
    /** Made with the first upstream that needs it, and kept, because it is read from files. */
    private volatile @Nullable UpstreamTls publicTrust;
    private volatile @Nullable TlsLink link;

    private record Known(RuntimeUpstream to, Upstreams upstreams) {}

    /**
     * @param platform the host of the platform; null: none
     * @param headTimeout the maximum time from the last byte of a request to the response head
     * @param telemetry shows the meters of connections with TLS, once there are any
     */
    public DirectHosts(@Nullable PlatformHost platform, Duration headTimeout, Telemetry telemetry) {
        this.platform = platform;
        UpstreamLimits usual = UpstreamLimits.defaults();
        this.limits = new UpstreamLimits(usual.connections(), usual.connectionsPerUpstream(),
                usual.idlePerUpstream(), usual.waiting(), CONNECT_TIMEOUT, headTimeout, IDLE_TIMEOUT);
        this.telemetry = telemetry;
    }

    @Override
    public void check(RuntimeUpstream upstream) {
        try {
            trust(upstream);
        } catch (CertsException e) {
            throw new InvalidNameException("ca",
                    e.getMessage() + " (expected: PEM certificates of authorities)");
        }
    }

    @Override
    public boolean isPlatforms(String host) {
        PlatformHost known = platform;
        return known != null && known.host().equals(host);
    }

    /** The host of the platform; null: none. */
    public @Nullable PlatformHost platform() {
        return platform;
    }

    /**
     * Makes the connections of a host ready. Blocks if it is the first one with TLS, unless {@link #check}
     * was called before.
     */
    public void prepare(String id, RuntimeUpstream upstream) {
        upstreams(id, upstream);
    }

    /**
     * Returns the relay of a host. Each of its requests takes a place of {@code quota}. It passes on no
     * trailers that state who the caller is; {@link #guarded} does that for heads.
     */
    public Relay relay(String id, RuntimeUpstream upstream, RuntimeQuota quota) {
        return new DirectRelay(() -> upstreams(id, upstream), upstream.address(), quota,
                RouteFigures.uncounted(id));
    }

    /** Puts in front of a host's admission what removes the fields that state who the caller is. */
    public static Relay guarded(Relay admitted) {
        return new IdentityGuard(admitted);
    }

    private Upstreams upstreams(String id, RuntimeUpstream upstream) {
        Known known = byId.get(id);
        if (known == null || !known.to.equals(upstream)) {
            known = Objects.requireNonNull(byId.compute(id, (same, before) -> {
                if (before != null && before.to.equals(upstream)) {
                    return before;
                }
                if (before != null) {
                    closeLater(before.upstreams);
                }
                return new Known(upstream,
                        new Upstreams(limits, UpstreamNames.DNS, UpstreamTrust.of(trust(upstream))));
            }));
        }
        return known.upstreams;
    }

    private static void closeLater(Upstreams replaced) {
        Schedulers.parallel().schedule(replaced::close, LAST_REQUESTS.toMillis(), TimeUnit.MILLISECONDS);
    }

    private @Nullable UpstreamTls trust(RuntimeUpstream upstream) {
        if (!upstream.address().tls()) {
            return null;
        }
        String ca = upstream.ca();
        return ca == null
                ? publicTrust()
                : trusts.get(ca, text -> UpstreamTls
                        .trusting(ServerTrust.inAuthorities(Pem.certificates(text)), link()));
    }

    private UpstreamTls publicTrust() {
        UpstreamTls made = publicTrust;
        if (made == null) {
            synchronized (this) {
                made = publicTrust;
                if (made == null) {
                    made = UpstreamTls.trusting(ServerTrust.inSystemRoots(), link());
                    publicTrust = made;
                }
            }
        }
        return made;
    }

    /** The link, which has meters from its first use on. */
    private TlsLink link() {
        TlsLink made = link;
        if (made == null) {
            synchronized (this) {
                made = link;
                if (made == null) {
                    made = TlsLink.of("upstream", "upstream", PostQuantum.PREFER).shown(telemetry);
                    link = made;
                }
            }
        }
        return made;
    }

    /** Ends all exchanges of a deleted host at once. */
    public void forget(String id) {
        Known known = byId.remove(id);
        if (known != null) {
            known.upstreams.close();
        }
    }

    /** Ends all exchanges. */
    public void close() {
        byId.keySet().forEach(this::forget);
    }
}

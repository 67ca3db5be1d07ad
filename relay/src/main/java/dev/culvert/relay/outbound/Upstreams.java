package dev.culvert.relay.outbound;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.upstream.Ejection;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.NameCache;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.relay.upstream.UpstreamTrust;
import io.netty.channel.EventLoop;
import io.netty.resolver.dns.DnsNameResolver;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Forwards exchanges to upstreams, over connections of each exchange's own event loop. Safe for use by any
 * thread.
 */
public final class Upstreams {
    /** The time for which the state of unused addresses is kept: ten times the longest ejection. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    private volatile UpstreamLimits limits;
    private final NameCache nameCache = new NameCache(Ticker.systemTicker());
    /** The health of addresses, which outlives their connections. */
    private final Cache<UpstreamAddress, Endpoints> endpoints;
    private volatile UpstreamNames names;
    private volatile UpstreamTrust trust;
    private final AtomicInteger generation = new AtomicInteger();
    private final Map<EventLoop, LoopUpstreams> loops = new ConcurrentHashMap<>();
    private final LongAdder buffered = new LongAdder();
    private final LongAdder connections = new LongAdder();
    private volatile boolean draining;

    public Upstreams(UpstreamLimits limits, UpstreamNames names, UpstreamTrust trust) {
        this(limits, names, trust, Ticker.systemTicker());
    }

    /** @param ticker the clock for the expiry of address states */
    public Upstreams(UpstreamLimits limits, UpstreamNames names, UpstreamTrust trust, Ticker ticker) {
        this.endpoints = Caffeine.newBuilder()
                .maximumSize(NameCache.MAX_NAMES)
                .expireAfterAccess(REMEMBERED)
                .ticker(ticker)
                .executor(Runnable::run)
                .build();
        this.limits = limits;
        this.names = names;
        this.trust = trust;
        readSystemFiles();
    }

    /**
     * Loads Netty's resolver now. It reads resolv.conf and hosts when it is first used, which would block an
     * event loop.
     */
    private static void readSystemFiles() {
        try {
            MethodHandles.lookup().ensureInitialized(DnsNameResolver.class);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("a public class can be initialised", e);
        }
    }

    /** Forwards an exchange. Call on the exchange's event loop. */
    public RequestSink open(RelayRequest request, UpstreamCall call, ResponseSink response) {
        if (draining) {
            response.fail(UpstreamProblem.DRAINING);
            return SwallowingSink.INSTANCE;
        }
        return of(request.loop()).open(request, call, response);
    }

    /** Forwards a raw connection. Call on the exchange's event loop. */
    public RequestSink openTcp(RelayRequest request, UpstreamAddress to, ResponseSink response) {
        if (draining) {
            response.fail(UpstreamProblem.DRAINING);
            return SwallowingSink.INSTANCE;
        }
        return of(request.loop()).openTcp(to, response);
    }

    private LoopUpstreams of(EventLoop loop) {
        LoopUpstreams upstreams = loops.get(loop);
        return upstreams == null
                ? loops.computeIfAbsent(loop, made -> new LoopUpstreams(this, made))
                : upstreams;
    }

    /**
     * Replaces the configured names for later dials. Exchanges on present connections continue, and the
     * connections close after them. One thread at a time.
     */
    public void replace(UpstreamNames changed) {
        names = changed;
        generation.incrementAndGet();
        endpoints.asMap().values().forEach(Endpoints::forget);
        onAllLoops(LoopUpstreams::drain);
    }

    /** Replaces the limits for later exchanges and connections. One thread at a time. */
    public void replace(UpstreamLimits changed) {
        limits = changed;
    }

    /** Replaces the trust for later connections. One thread at a time. */
    public void replace(UpstreamTrust changed) {
        trust = changed.after(trust);
    }

    /** The number of the present names. Connections of an earlier number were dialled by earlier names. */
    int generation() {
        return generation.get();
    }

    UpstreamLimits limits() {
        return limits;
    }

    public UpstreamNames names() {
        return names;
    }

    NameCache nameCache() {
        return nameCache;
    }

    UpstreamTrust trust() {
        return trust;
    }

    /**
     * Returns the addresses of an upstream, for every protocol. Call it for each exchange: addresses that are
     * not used expire.
     */
    public Endpoints endpoints(UpstreamAddress upstream) {
        return endpoints.get(upstream.over(false),
                to -> new Endpoints(to.host() + ":" + to.port(), Ejection.defaults(), System::nanoTime));
    }

    /** The number of addresses that are ejected now. */
    public int ejected() {
        return endpoints.asMap().values().stream().mapToInt(Endpoints::ejected).sum();
    }

    boolean isDraining() {
        return draining;
    }

    /** The bytes that were received and not forwarded yet. */
    public LongAdder buffered() {
        return buffered;
    }

    /** The number of open connections, including those being dialled. */
    public LongAdder connections() {
        return connections;
    }

    /** The number of pools of a loop. Call it on that loop, or while the loop is idle. */
    public int pools(EventLoop loop) {
        LoopUpstreams upstreams = loops.get(loop);
        return upstreams == null ? 0 : upstreams.pools();
    }

    public void drain() {
        draining = true;
        onAllLoops(LoopUpstreams::drain);
    }

    public void close() {
        draining = true;
        onAllLoops(LoopUpstreams::close);
    }

    private void onAllLoops(Consumer<LoopUpstreams> action) {
        loops.forEach((loop, upstreams) -> {
            try {
                loop.execute(() -> action.accept(upstreams));
            } catch (RejectedExecutionException e) {
                // the loop has ended, and with it its connections
            }
        });
    }
}

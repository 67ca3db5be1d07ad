package dev.culvert.router;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import dev.culvert.edge.relay.SwallowingSink;
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

/** Passes exchanges on to upstreams, each over connections of its own event loop. Safe for use by any thread. */
final class Upstreams {
    /** Ten times as long as an address is left out. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    private final UpstreamLimits limits;
    private final NameCache nameCache = new NameCache(Ticker.systemTicker());
    /** How addresses fare is known for longer than there are connections to them. */
    private final Cache<UpstreamAddress, Endpoints> endpoints;
    private volatile UpstreamNames names;
    private volatile UpstreamTrust trust;
    private final AtomicInteger generation = new AtomicInteger();
    private final Map<EventLoop, LoopUpstreams> loops = new ConcurrentHashMap<>();
    private final LongAdder buffered = new LongAdder();
    private final LongAdder connections = new LongAdder();
    private volatile boolean draining;

    Upstreams(UpstreamLimits limits, UpstreamNames names, UpstreamTrust trust) {
        this(limits, names, trust, Ticker.systemTicker());
    }

    /** @param ticker for what is remembered of addresses */
    Upstreams(UpstreamLimits limits, UpstreamNames names, UpstreamTrust trust, Ticker ticker) {
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

    /** Netty's resolver reads resolv.conf and hosts when it is first used, which would be on an event loop. */
    private static void readSystemFiles() {
        try {
            MethodHandles.lookup().ensureInitialized(DnsNameResolver.class);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("a public class can be initialised", e);
        }
    }

    /** Passes an exchange on. On the exchange's event loop. */
    RequestSink open(RelayRequest request, Outgoing outgoing, ResponseSink response) {
        if (draining) {
            response.fail(UpstreamProblem.DRAINING);
            return SwallowingSink.INSTANCE;
        }
        return of(request.loop()).open(request, outgoing, response);
    }

    /** Passes a raw connection on. On the exchange's event loop. */
    RequestSink openTcp(RelayRequest request, UpstreamAddress to, ResponseSink response) {
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
     * Dials by other names from now on. Exchanges on the connections there are go on; after that these are closed. One
     * thread at a time.
     */
    void replace(UpstreamNames changed) {
        names = changed;
        generation.incrementAndGet();
        endpoints.asMap().values().forEach(Endpoints::forget);
        onAllLoops(LoopUpstreams::drain);
    }

    /** Trusts others in connections that begin from now on. One thread at a time. */
    void replace(UpstreamTrust changed) {
        trust = changed.after(trust);
    }

    /** Connections of an earlier one lead to where names led before. */
    int generation() {
        return generation.get();
    }

    UpstreamLimits limits() {
        return limits;
    }

    UpstreamNames names() {
        return names;
    }

    NameCache nameCache() {
        return nameCache;
    }

    UpstreamTrust trust() {
        return trust;
    }

    /** The addresses of an upstream, whatever is spoken there. To be asked for each exchange: what is not is forgotten. */
    Endpoints endpoints(UpstreamAddress upstream) {
        return endpoints.get(upstream.over(false),
                to -> new Endpoints(to.host() + ":" + to.port(), Ejection.defaults(), System::nanoTime));
    }

    /** Addresses that are left out now. */
    int ejected() {
        return endpoints.asMap().values().stream().mapToInt(Endpoints::ejected).sum();
    }

    boolean isDraining() {
        return draining;
    }

    /** Bytes that came in and were not passed on. */
    LongAdder buffered() {
        return buffered;
    }

    /** Open connections and those being made. */
    LongAdder connections() {
        return connections;
    }

    /** How many upstreams a loop knows of; asked on that loop, or when it is idle. */
    int pools(EventLoop loop) {
        LoopUpstreams upstreams = loops.get(loop);
        return upstreams == null ? 0 : upstreams.pools();
    }

    void drain() {
        draining = true;
        onAllLoops(LoopUpstreams::drain);
    }

    void close() {
        draining = true;
        onAllLoops(LoopUpstreams::close);
    }

    private void onAllLoops(Consumer<LoopUpstreams> action) {
        loops.forEach((loop, upstreams) -> {
            try {
                loop.execute(() -> action.accept(upstreams));
            } catch (RejectedExecutionException e) {
                // the loop has ended, and its connections with it
            }
        });
    }
}

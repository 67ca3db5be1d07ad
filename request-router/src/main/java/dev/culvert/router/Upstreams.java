package dev.culvert.router;

import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.channel.EventLoop;
import io.netty.resolver.dns.DnsNameResolver;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Passes exchanges on to upstreams, each over connections of its own event loop. Safe for use by any thread. */
final class Upstreams {
    private final UpstreamLimits limits;
    private volatile Map<String, HostPort> addresses;
    private volatile @Nullable UpstreamTls tls;
    private final AtomicInteger generation = new AtomicInteger();
    private final Map<EventLoop, LoopUpstreams> loops = new ConcurrentHashMap<>();
    private final LongAdder buffered = new LongAdder();
    private final LongAdder connections = new LongAdder();
    private volatile boolean draining;

    /**
     * @param addresses what wins over DNS, by {@code host} or {@code host:port}
     * @param tls for upstreams that speak TLS; null: none does
     */
    Upstreams(UpstreamLimits limits, Map<String, HostPort> addresses, @Nullable UpstreamTls tls) {
        this.limits = limits;
        this.addresses = addresses;
        this.tls = tls;
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
     * Dials by other addresses from now on. Exchanges on the connections there are go on; after that these are closed. One
     * thread at a time.
     */
    void replace(Map<String, HostPort> changed, @Nullable UpstreamTls contexts) {
        addresses = changed;
        tls = contexts;
        generation.incrementAndGet();
        onAllLoops(LoopUpstreams::drain);
    }

    /** Connections of an earlier one lead to where names led before. */
    int generation() {
        return generation.get();
    }

    UpstreamLimits limits() {
        return limits;
    }

    Map<String, HostPort> addresses() {
        return addresses;
    }

    @Nullable
    UpstreamTls tls() {
        return tls;
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

package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.GrpcContent;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The upstream connections of one event loop. Used on that loop alone. */
final class LoopUpstreams {
    private final Upstreams shared;
    private final EventLoop loop;
    private final UpstreamDialler dialler;
    /** Only pools with connections or exchanges: what callers write into host names does not stay. */
    private final Map<UpstreamAddress, UpstreamPool> pools = new HashMap<>();
    private final Set<UpstreamConnection> connections = new HashSet<>();
    private int open;
    private boolean serving;
    private boolean closed;

    LoopUpstreams(Upstreams shared, EventLoop loop) {
        this.shared = shared;
        this.loop = loop;
        this.dialler = new UpstreamDialler(shared, loop);
    }

    UpstreamLimits limits() {
        return shared.limits();
    }

    /** Which addresses hold; see {@link Upstreams#replace}. */
    int generation() {
        return shared.generation();
    }

    LongAdder buffered() {
        return shared.buffered();
    }

    RequestSink open(RelayRequest request, UpstreamCall outgoing, ResponseSink response) {
        UpstreamAddress to = outgoing.address();
        boolean http2 = request.kind() == Kind.HTTP
                && (to.http2() || GrpcContent.isGrpc(request.fields().get("content-type")));
        return pool(to.over(http2)).open(request, outgoing, response);
    }

    RequestSink openTcp(UpstreamAddress to, ResponseSink response) {
        if (!mayOpen()) {
            response.fail(UpstreamProblem.OVERLOADED);
            return SwallowingSink.INSTANCE;
        }
        TcpExchange exchange = new TcpExchange(this, to, response);
        exchange.start();
        return exchange;
    }

    private UpstreamPool pool(UpstreamAddress address) {
        UpstreamPool pool = pools.get(address);
        if (pool == null) {
            pool = address.http2() ? new Http2Pool(this, address) : new Http1Pool(this, address);
            pools.put(address, pool);
        }
        return pool;
    }

    /**
     * Makes a connection. The outcome is told on the loop, and not before this returns.
     *
     * @param first the address to begin with; null: whichever is best
     * @param install puts the connection at the end of its channel's pipeline; again for each address that is tried
     */
    <C extends UpstreamConnection> void dial(UpstreamAddress address, Endpoints endpoints,
            @Nullable Endpoint first, Function<Channel, C> install, UpstreamDialler.Outcome<C> outcome) {
        dialler.dial(address, endpoints, first, install, new UpstreamDialler.Outcome<C>() {
            @Override
            public void connected(C connection) {
                if (closed || !connection.isUsable()) {
                    connection.close();
                    failed(UpstreamProblem.refused("the upstream closed the connection at once"));
                } else {
                    connections.add(connection);
                    connection.adopt();
                    outcome.connected(connection);
                }
            }

            @Override
            public void failed(Problem problem) {
                outcome.failed(closed ? UpstreamProblem.DRAINING : problem);
            }

            @Override
            public boolean isWanted() {
                return outcome.isWanted();
            }
        });
    }

    /** The addresses of an upstream. */
    Endpoints endpoints(UpstreamAddress address) {
        return shared.endpoints(address);
    }

    /** Looks for them again if it is time to; nobody waits for that. */
    void refresh(UpstreamAddress address, Endpoints endpoints) {
        dialler.refresh(address, endpoints);
    }

    /** A pool has connections or exchanges again. */
    void keep(UpstreamPool pool) {
        pools.put(pool.address(), pool);
    }

    /** Whether another connection may be opened; closes an idle one for it when there are too many. */
    boolean mayOpen() {
        if (open < limits().connections()) {
            return true;
        }
        for (UpstreamPool pool : pools.values()) {
            if (pool.closeIdle()) {
                return true;
            }
        }
        return false;
    }

    /** Whether another exchange may wait. */
    boolean mayWait() {
        int waiting = 0;
        for (UpstreamPool pool : pools.values()) {
            waiting += pool.waiting();
        }
        return waiting < limits().waiting();
    }

    /** Whether no connection may be kept idle: the server drains, or another upstream's exchanges wait for room. */
    boolean isShort() {
        return shared.isDraining() || (open >= limits().connections()
                && pools.values().stream().anyMatch(pool -> pool.waiting() > 0));
    }

    void opened(UpstreamPool pool) {
        keep(pool);
        opened();
    }

    void closed(UpstreamPool pool) {
        forgetIfEmpty(pool);
        closed();
    }

    /** A connection is being made. */
    void opened() {
        open++;
        shared.connections().increment();
    }

    /** A connection is gone, or was not made. */
    void closed() {
        open--;
        shared.connections().decrement();
        serveLater();
    }

    /** Looks in a moment whether those that wait can go on; not at once: dials that fail at once would nest. */
    void serveLater() {
        if (!serving) {
            serving = true;
            loop.execute(this::serveWaiting);
        }
    }

    void forget(UpstreamConnection connection) {
        connections.remove(connection);
    }

    void forgetIfEmpty(UpstreamPool pool) {
        if (pool.isEmpty()) {
            pools.remove(pool.address(), pool);
        }
    }

    private void serveWaiting() {
        serving = false;
        List.copyOf(pools.values()).forEach(UpstreamPool::serveWaiting);
    }

    int pools() {
        return pools.size();
    }

    /** Closes idle connections. */
    void drain() {
        for (UpstreamPool pool : List.copyOf(pools.values())) {
            while (pool.closeIdle()) {
                // until none is left
            }
        }
    }

    /** Ends everything. */
    void close() {
        closed = true;
        List.copyOf(pools.values()).forEach(UpstreamPool::refuseWaiting);
        drain();
        new ArrayList<>(connections).forEach(UpstreamConnection::abandon);
        dialler.close();
    }
}

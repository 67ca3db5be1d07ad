package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

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

    LongAdder buffered() {
        return shared.buffered();
    }

    RequestSink open(RelayRequest request, Outgoing outgoing, ResponseSink response) {
        UpstreamExchange exchange = new UpstreamExchange(this, request, outgoing, response);
        exchange.start();
        return exchange;
    }

    UpstreamPool pool(UpstreamAddress address) {
        UpstreamPool pool = pools.get(address);
        if (pool == null) {
            pool = new UpstreamPool(this, address);
            pools.put(address, pool);
        }
        return pool;
    }

    void dial(UpstreamPool pool, UpstreamExchange exchange) {
        dialler.dial(pool, new UpstreamDialler.Outcome() {
            @Override
            public void connected(UpstreamConnection connection) {
                if (closed || !connection.isUsable()) {
                    connection.close();
                    failed(Cause.UPSTREAM_REFUSED, "the upstream closed the connection at once");
                } else {
                    connections.add(connection);
                    connection.adopt();
                    pool.connected(connection, exchange);
                }
            }

            @Override
            public void failed(Cause cause, String detail) {
                pool.lost();
                exchange.fail(closed ? UpstreamProblem.DRAINING : Problem.of(cause, Hop.UPSTREAM, detail));
            }
        });
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
                && pools.values().stream().anyMatch(UpstreamPool::hasWaiting));
    }

    void opened(UpstreamPool pool) {
        keep(pool);
        open++;
        shared.connections().increment();
    }

    void closed(UpstreamPool pool) {
        open--;
        shared.connections().decrement();
        if (pool.isEmpty()) {
            pools.remove(pool.address(), pool);
        }
        if (!serving) {
            serving = true;
            loop.execute(this::serveWaiting); // not at once: dials that fail at once would nest
        }
    }

    void forget(UpstreamConnection connection) {
        connections.remove(connection);
    }

    void forget(UpstreamExchange exchange) {
        UpstreamPool pool = pools.get(exchange.address());
        if (pool != null) {
            pool.forget(exchange);
            if (pool.isEmpty()) {
                pools.remove(exchange.address(), pool);
            }
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

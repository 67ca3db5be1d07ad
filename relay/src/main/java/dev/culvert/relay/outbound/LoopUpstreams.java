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

/** The upstream connections of one event loop. Used only on that loop. */
final class LoopUpstreams {
    private final Upstreams shared;
    private final EventLoop loop;
    private final UpstreamDialler dialler;
    /**
     * Only pools with connections or exchanges. Others are removed, because callers can choose host names.
     */
    private final Map<UpstreamAddress, UpstreamPool<?>> pools = new HashMap<>();
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

    /** The number of the present configuration of names; see {@link Upstreams#replace}. */
    int generation() {
        return shared.generation();
    }

    LongAdder buffered() {
        return shared.buffered();
    }

    RequestSink open(RelayRequest request, UpstreamCall call, ResponseSink response) {
        UpstreamAddress to = call.address();
        boolean http2 = request.kind() == Kind.HTTP
                && (to.http2() || GrpcContent.isGrpc(request.fields().get("content-type")));
        return pool(to.over(http2)).open(request, call, response);
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

    private UpstreamPool<?> pool(UpstreamAddress address) {
        UpstreamPool<?> pool = pools.get(address);
        if (pool == null) {
            pool = address.http2() ? new Http2Pool(this, address) : new Http1Pool(this, address);
            pools.put(address, pool);
        }
        return pool;
    }

    /**
     * Dials a connection. The outcome is reported on the loop, and not before this returns.
     *
     * @param first the address to try first; null: the best one
     * @param install adds the connection to the end of its channel's pipeline; called again for each address
     *     that is tried
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

    /** Returns the addresses of an upstream. */
    Endpoints endpoints(UpstreamAddress address) {
        return shared.endpoints(address);
    }

    /** Resolves the addresses again if they are due. Does not wait for the result. */
    void refresh(UpstreamAddress address, Endpoints endpoints) {
        dialler.refresh(address, endpoints);
    }

    /** A pool has connections or exchanges again. */
    void keep(UpstreamPool<?> pool) {
        pools.put(pool.address(), pool);
    }

    /** Whether another connection may be opened. At the limit, closes an idle one to make room. */
    boolean mayOpen() {
        if (open < limits().connections()) {
            return true;
        }
        for (UpstreamPool<?> pool : pools.values()) {
            if (pool.closeIdle()) {
                return true;
            }
        }
        return false;
    }

    /** Whether another exchange may wait. */
    boolean mayWait() {
        int waiting = 0;
        for (UpstreamPool<?> pool : pools.values()) {
            waiting += pool.waiting();
        }
        return waiting < limits().waiting();
    }

    /**
     * Whether no connection may stay idle: the server drains, or exchanges of another upstream wait for room.
     */
    boolean isShort() {
        return shared.isDraining() || (open >= limits().connections()
                && pools.values().stream().anyMatch(pool -> pool.waiting() > 0));
    }

    void opened(UpstreamPool<?> pool) {
        keep(pool);
        opened();
    }

    void closed(UpstreamPool<?> pool) {
        forgetIfEmpty(pool);
        closed();
    }

    /** Counts a connection that is being dialled. */
    void opened() {
        open++;
        shared.connections().increment();
    }

    /** A connection closed, or its dial failed. */
    void closed() {
        open--;
        shared.connections().decrement();
        serveLater();
    }

    /**
     * Schedules a pass that serves waiting exchanges. It does not run at once, because dials that fail at
     * once would nest.
     */
    void serveLater() {
        if (!serving) {
            serving = true;
            loop.execute(this::serveWaiting);
        }
    }

    void forget(UpstreamConnection connection) {
        connections.remove(connection);
    }

    void forgetIfEmpty(UpstreamPool<?> pool) {
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
        for (UpstreamPool<?> pool : List.copyOf(pools.values())) {
            while (pool.closeIdle()) {
                // until none is left
            }
        }
    }

    /** Refuses the waiting exchanges and closes all connections. */
    void close() {
        closed = true;
        List.copyOf(pools.values()).forEach(UpstreamPool::refuseWaiting);
        drain();
        new ArrayList<>(connections).forEach(UpstreamConnection::abandon);
        dialler.close();
    }
}

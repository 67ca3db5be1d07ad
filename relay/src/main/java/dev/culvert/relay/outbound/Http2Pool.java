package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/2 connections of one event loop to one upstream. Exchanges share the first connection that has
 * room. If none has, the pool dials another.
 */
final class Http2Pool implements UpstreamPool {
    /**
     * The maximum number of connections. With {@link Http2UpstreamBuilder#MAX_STREAMS} streams each, they
     * carry more streams than a runtime may have.
     */
    static final int MAX_CONNECTIONS = 16;

    private final LoopUpstreams upstreams;
    private final UpstreamAddress address;
    private Endpoints endpoints;
    private final List<Http2UpstreamConnection> connections = new ArrayList<>();
    private final ArrayDeque<Http2Exchange> waiting = new ArrayDeque<>();
    /** The number of connections that are being dialled, or whose upstream has not sent its SETTINGS. */
    private int starting;
    private int open;
    /** The stream limit of the newest connection. */
    private int expectedRoom = Http2UpstreamBuilder.MAX_STREAMS;

    Http2Pool(LoopUpstreams upstreams, UpstreamAddress address) {
        this.upstreams = upstreams;
        this.address = address;
        this.endpoints = upstreams.endpoints(address);
    }

    Endpoints endpoints() {
        return endpoints;
    }

    @Override
    public UpstreamAddress address() {
        return address;
    }

    UpstreamLimits limits() {
        return upstreams.limits();
    }

    int generation() {
        return upstreams.generation();
    }

    LongAdder buffered() {
        return upstreams.buffered();
    }

    @Override
    public RequestSink open(RelayRequest request, UpstreamCall outgoing, ResponseSink response) {
        Http2Exchange exchange = new Http2Exchange(this, request, outgoing, response);
        exchange.start();
        return exchange;
    }

    @Override
    public boolean isEmpty() {
        return open == 0 && waiting.isEmpty();
    }

    @Override
    public int waiting() {
        return waiting.size();
    }

    // ---- for exchanges ----

    /** Gives the exchange a stream, now or later, or fails it. */
    void acquire(Http2Exchange exchange) {
        endpoints = upstreams.endpoints(address);
        upstreams.refresh(address, endpoints);
        Endpoint best = endpoints.pick(List.of());
        Http2UpstreamConnection roomy = withRoom(best);
        if (roomy != null) {
            if (best != null && !best.equals(roomy.endpoint()) && starting == 0 && mayOpen()) {
                open(best); // for later exchanges
            }
            exchange.attach(roomy);
            return;
        }
        if (!isRoomComing() && mayOpen()) {
            open(best);
        }
        boolean coming = isRoomComing();
        if (coming || upstreams.mayWait()) {
            upstreams.keep(this);
            waiting.add(exchange);
            exchange.await(coming ? UpstreamProblem.NO_HTTP2_CONNECTION : UpstreamProblem.OVERLOADED);
        } else {
            exchange.fail(UpstreamProblem.OVERLOADED);
        }
    }

    /**
     * Returns a connection with room to this address; if there is none, one to the address with the fewest
     * exchanges.
     */
    private @Nullable Http2UpstreamConnection withRoom(@Nullable Endpoint best) {
        Http2UpstreamConnection least = null;
        for (Http2UpstreamConnection connection : connections) {
            if (!endpoints.include(connection.endpoint())) {
                connection.supersede();
            } else if (connection.hasRoom()) {
                if (connection.endpoint().equals(best)) {
                    return connection;
                }
                if (least == null || isBetter(connection.endpoint(), least.endpoint())) {
                    least = connection;
                }
            }
        }
        return least;
    }

    private static boolean isBetter(Endpoint one, Endpoint other) {
        return one.isEjected() == other.isEjected()
                ? one.pending() < other.pending()
                : other.isEjected();
    }

    void forget(Http2Exchange exchange) {
        waiting.remove(exchange);
        upstreams.forgetIfEmpty(this);
    }

    /** Whether the connections being dialled will have room for all waiting exchanges and one more. */
    private boolean isRoomComing() {
        return waiting.size() < starting * expectedRoom;
    }

    private boolean mayOpen() {
        return open < Math.min(MAX_CONNECTIONS, limits().connectionsPerUpstream()) && upstreams.mayOpen();
    }

    // ---- connections ----

    /** @param to the address; null: the best one */
    private void open(@Nullable Endpoint to) {
        open++;
        starting++;
        upstreams.opened(this);
        upstreams.dial(address, endpoints, to, this::install, new UpstreamDialler.Outcome<>() {
            @Override
            public void connected(Http2UpstreamConnection connection) {
                if (connection.isReady()) {
                    ready(connection);
                }
            }

            @Override
            public void failed(Problem problem) {
                starting--;
                lost();
                failWaiting(problem);
            }
        });
    }

    private Http2UpstreamConnection install(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        channel.config().setAutoClose(true);
        Http2UpstreamConnection connection = new Http2UpstreamBuilder(this).build();
        channel.pipeline().addLast(connection);
        return connection;
    }

    /** The upstream has sent its SETTINGS. */
    void ready(Http2UpstreamConnection connection) {
        starting--;
        connections.add(connection);
        expectedRoom = Math.max(1, connection.room());
        serveWaiting();
        if (connection.isIdle()) {
            connection.rest();
        }
    }

    /** A connection may have more room than before. */
    void freed(Http2UpstreamConnection connection) {
        if (!waiting.isEmpty()) {
            upstreams.serveLater();
        }
        if (connection.isIdle() && connections.contains(connection)) {
            if (!connection.isUsable() || !connection.isCurrent()
                    || (upstreams.isShort() && waiting.isEmpty())) {
                connection.close();
            } else {
                connection.rest();
            }
        }
    }

    /** A connection was closed. */
    void closed(Http2UpstreamConnection connection) {
        if (!connections.remove(connection)) {
            starting--;
        }
        upstreams.forget(connection);
        lost();
        failWaiting(connection.end());
    }

    private void lost() {
        open--;
        upstreams.closed(this);
    }

    /** Fails the waiting exchanges if no connection is left for them to wait for. */
    private void failWaiting(Problem problem) {
        while (starting == 0 && connections.isEmpty() && !waiting.isEmpty()) {
            waiting.remove().fail(problem);
        }
    }

    @Override
    public void serveWaiting() {
        for (Http2UpstreamConnection connection : List.copyOf(connections)) {
            while (!waiting.isEmpty() && connection.hasRoom()) {
                waiting.remove().attach(connection);
            }
        }
        while (!waiting.isEmpty() && waiting.size() > starting * expectedRoom && mayOpen()) {
            open(null);
        }
    }

    @Override
    public boolean closeIdle() {
        for (Http2UpstreamConnection connection : connections) {
            if (connection.isIdle()) {
                connection.close();
                return true;
            }
        }
        return false;
    }

    @Override
    public void refuseWaiting() {
        for (Http2Exchange next = waiting.poll(); next != null; next = waiting.poll()) {
            next.fail(UpstreamProblem.DRAINING);
        }
    }
}

package dev.culvert.relay.outbound;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.HeadBlockGuard;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/2 connections of one event loop to one upstream. Exchanges share the first connection that has
 * room. If none has, the pool dials another.
 */
final class Http2Pool extends UpstreamPool<Http2UpstreamConnection> {
    /**
     * The maximum number of connections. With {@link Http2UpstreamBuilder#MAX_STREAMS} streams each, they
     * carry more streams than a runtime may have.
     */
    static final int MAX_CONNECTIONS = 16;

    private final List<Http2UpstreamConnection> connections = new ArrayList<>();
    /** The number of connections that are being dialled, or whose upstream has not sent its SETTINGS. */
    private int starting;
    /** The stream limit of the newest connection. */
    private int expectedRoom = Http2UpstreamBuilder.MAX_STREAMS;

    Http2Pool(LoopUpstreams upstreams, UpstreamAddress address) {
        super(upstreams, address, Math.min(MAX_CONNECTIONS, upstreams.limits().connectionsPerUpstream()));
    }

    @Override
    Http2Exchange exchange(RelayRequest request, UpstreamCall call, ResponseSink response) {
        return new Http2Exchange(this, request, call, response);
    }

    @Override
    void acquire(HttpExchange<Http2UpstreamConnection> exchange) {
        Endpoint best = best();
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
        if (isRoomComing()) {
            queue(exchange, UpstreamProblem.NO_HTTP2_CONNECTION);
        } else {
            queueOrRefuse(exchange);
        }
    }

    /**
     * Returns a connection with room to this address; if there is none, one to the address with the fewest
     * exchanges.
     */
    private @Nullable Http2UpstreamConnection withRoom(@Nullable Endpoint best) {
        Http2UpstreamConnection least = null;
        for (Http2UpstreamConnection connection : connections) {
            if (!endpoints().include(connection.endpoint())) {
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

    /** Whether the connections being dialled will have room for all waiting exchanges and one more. */
    private boolean isRoomComing() {
        return waiting.size() < starting * expectedRoom;
    }

    /** @param to the address; null: the best one */
    private void open(@Nullable Endpoint to) {
        starting++;
        dial(to, new UpstreamDialler.Outcome<>() {
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

    @Override
    Http2UpstreamConnection install(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        channel.config().setAutoClose(true);
        Http2UpstreamConnection connection = new Http2UpstreamBuilder(this).build();
        channel.pipeline().addLast(HandlerNames.HEAD_BLOCKS, HeadBlockGuard.ofUpstream());
        channel.pipeline().addLast(HandlerNames.HTTP2, connection);
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

    @Override
    void closed(Http2UpstreamConnection connection) {
        if (!connections.remove(connection)) {
            starting--;
        }
        super.closed(connection);
        failWaiting(connection.end());
    }

    /** Fails the waiting exchanges if no connection is left for them to wait for. */
    private void failWaiting(Problem problem) {
        while (starting == 0 && connections.isEmpty() && !waiting.isEmpty()) {
            waiting.remove().fail(problem);
        }
    }

    @Override
    void serveWaiting() {
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
    boolean closeIdle() {
        for (Http2UpstreamConnection connection : connections) {
            if (connection.isIdle()) {
                connection.close();
                return true;
            }
        }
        return false;
    }
}

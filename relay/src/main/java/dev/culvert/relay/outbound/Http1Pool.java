package dev.culvert.relay.outbound;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/1.1 connections to one upstream on one event loop. The most recently used connection is reused
 * first, so that others can idle out.
 */
final class Http1Pool extends UpstreamPool<Http1UpstreamConnection> {
    private final ArrayDeque<Http1UpstreamConnection> idle = new ArrayDeque<>();

    Http1Pool(LoopUpstreams upstreams, UpstreamAddress address) {
        super(upstreams, address, upstreams.limits().connectionsPerUpstream());
    }

    @Override
    Http1Exchange exchange(RelayRequest request, UpstreamCall call, ResponseSink response) {
        return new Http1Exchange(this, request, call, response);
    }

    @Override
    void acquire(HttpExchange<Http1UpstreamConnection> exchange) {
        Endpoint best = best();
        Http1UpstreamConnection kept = pollIdle(best);
        if (kept == null && !mayOpen()) {
            kept = pollIdle(null);
        }
        if (kept != null) {
            exchange.attach(kept);
        } else {
            acquireNew(exchange, best);
        }
    }

    /**
     * Returns the most recently used idle connection to this address or, if null, to any. Closes those that
     * are no longer usable.
     */
    private @Nullable Http1UpstreamConnection pollIdle(@Nullable Endpoint to) {
        for (Iterator<Http1UpstreamConnection> kept = idle.descendingIterator(); kept.hasNext();) {
            Http1UpstreamConnection next = kept.next();
            boolean gone = !next.isUsable() || !endpoints().include(next.endpoint());
            if (gone || to == null || to.equals(next.endpoint())) {
                kept.remove();
            }
            if (gone) {
                next.close();
            } else if (to == null || to.equals(next.endpoint())) {
                return next;
            }
        }
        return null;
    }

    /**
     * Gives the exchange a connection that was never used, or fails it.
     *
     * @param to the address to try first; null: the best one
     */
    void acquireNew(HttpExchange<Http1UpstreamConnection> exchange, @Nullable Endpoint to) {
        if (mayOpen()) {
            open(exchange, to);
        } else {
            queueOrRefuse(exchange);
        }
    }

    private void open(HttpExchange<Http1UpstreamConnection> exchange, @Nullable Endpoint to) {
        exchange.await(UpstreamProblem.NO_CONNECTION);
        dial(to, new UpstreamDialler.Outcome<>() {
            @Override
            public void connected(Http1UpstreamConnection connection) {
                if (exchange.isOver()) {
                    release(connection);
                } else {
                    exchange.attach(connection);
                }
            }

            @Override
            public void failed(Problem problem) {
                lost();
                exchange.fail(problem);
            }
        });
    }

    @Override
    Http1UpstreamConnection install(Channel channel) {
        Http1ResponseDecoder decoder = new Http1ResponseDecoder(limits());
        Http1UpstreamConnection connection = new Http1UpstreamConnection(this, channel, decoder);
        channel.pipeline()
                .addLast(HandlerNames.HTTP1_DECODER, decoder)
                .addLast(HandlerNames.HTTP1, connection);
        return connection;
    }

    @Override
    void closed(Http1UpstreamConnection connection) {
        idle.remove(connection);
        super.closed(connection);
    }

    /** A connection has no exchange any more and can be reused. */
    void release(Http1UpstreamConnection connection) {
        boolean usable = connection.isUsable() && connection.isCurrent()
                && endpoints().include(connection.endpoint());
        if (usable && !waiting.isEmpty()) {
            waiting.remove().attach(connection);
        } else if (!usable || upstreams.isShort() || idle.size() >= limits().idlePerUpstream()) {
            connection.close();
        } else {
            idle.addLast(connection);
            connection.rest();
        }
    }

    @Override
    void serveWaiting() {
        while (!waiting.isEmpty() && mayOpen()) {
            open(waiting.remove(), null);
        }
    }

    @Override
    boolean closeIdle() {
        Http1UpstreamConnection oldest = idle.pollFirst();
        if (oldest == null) {
            return false;
        }
        oldest.close();
        return true;
    }
}

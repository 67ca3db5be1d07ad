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
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/1.1 connections to one upstream on one event loop. The most recently used connection is reused
 * first, so that others can idle out.
 */
final class Http1Pool implements UpstreamPool {
    private final LoopUpstreams upstreams;
    private final UpstreamAddress address;
    private Endpoints endpoints;
    private final ArrayDeque<Http1UpstreamConnection> idle = new ArrayDeque<>();
    private final ArrayDeque<Http1Exchange> waiting = new ArrayDeque<>();
    private int open;

    Http1Pool(LoopUpstreams upstreams, UpstreamAddress address) {
        this.upstreams = upstreams;
        this.address = address;
        this.endpoints = upstreams.endpoints(address);
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
        Http1Exchange exchange = new Http1Exchange(this, request, outgoing, response);
        exchange.start();
        return exchange;
    }

    @Override
    public boolean isEmpty() {
        return open == 0 && waiting.isEmpty();
    }

    Endpoints endpoints() {
        return endpoints;
    }

    /** Gives the exchange a connection, now or later, or fails it. */
    void acquire(Http1Exchange exchange) {
        endpoints = upstreams.endpoints(address);
        upstreams.refresh(address, endpoints);
        Endpoint best = endpoints.pick(List.of());
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
            boolean gone = !next.isUsable() || !endpoints.include(next.endpoint());
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

    /** Gives the exchange a connection that was never used, or fails it. */
    void acquireNew(Http1Exchange exchange) {
        acquireNew(exchange, null);
    }

    private void acquireNew(Http1Exchange exchange, @Nullable Endpoint to) {
        if (mayOpen()) {
            open(exchange, to);
        } else if (upstreams.mayWait()) {
            upstreams.keep(this);
            waiting.add(exchange);
            exchange.await(UpstreamProblem.OVERLOADED);
        } else {
            exchange.fail(UpstreamProblem.OVERLOADED);
        }
    }

    private boolean mayOpen() {
        return open < limits().connectionsPerUpstream() && upstreams.mayOpen();
    }

    private void open(Http1Exchange exchange, @Nullable Endpoint to) {
        open++;
        upstreams.opened(this);
        exchange.await(UpstreamProblem.NO_CONNECTION);
        upstreams.dial(address, endpoints, to, this::install, new UpstreamDialler.Outcome<>() {
            @Override
            public void connected(Http1UpstreamConnection connection) {
                Http1Pool.this.connected(connection, exchange);
            }

            @Override
            public void failed(Problem problem) {
                lost();
                exchange.fail(problem);
            }
        });
    }

    private Http1UpstreamConnection install(Channel channel) {
        Http1ResponseDecoder decoder = new Http1ResponseDecoder();
        Http1UpstreamConnection connection = new Http1UpstreamConnection(this, channel, decoder);
        channel.pipeline().addLast(decoder, connection);
        return connection;
    }

    /** A dial succeeded. Its exchange may have ended by now. */
    private void connected(Http1UpstreamConnection connection, Http1Exchange exchange) {
        if (exchange.isOver()) {
            release(connection);
        } else {
            exchange.attach(connection);
        }
    }

    /** A dial failed, or a connection was closed. */
    private void lost() {
        open--;
        upstreams.closed(this);
    }

    void closed(Http1UpstreamConnection connection) {
        idle.remove(connection);
        upstreams.forget(connection);
        lost();
    }

    /** A connection has no exchange any more and can be reused. */
    void release(Http1UpstreamConnection connection) {
        Http1Exchange next = waiting.poll();
        boolean usable = connection.isUsable() && connection.isCurrent()
                && endpoints.include(connection.endpoint());
        if (next != null && usable) {
            next.attach(connection);
        } else if (!usable || upstreams.isShort()
                || idle.size() >= limits().idlePerUpstream()) {
            requeue(next);
            connection.close();
        } else {
            idle.addLast(connection);
            connection.rest();
        }
    }

    private void requeue(@Nullable Http1Exchange next) {
        if (next != null) {
            waiting.addFirst(next);
        }
    }

    @Override
    public void serveWaiting() {
        while (!waiting.isEmpty() && mayOpen()) {
            open(waiting.remove(), null);
        }
    }

    void forget(Http1Exchange exchange) {
        waiting.remove(exchange);
        upstreams.forgetIfEmpty(this);
    }

    @Override
    public int waiting() {
        return waiting.size();
    }

    @Override
    public boolean closeIdle() {
        Http1UpstreamConnection oldest = idle.pollFirst();
        if (oldest == null) {
            return false;
        }
        oldest.close();
        return true;
    }

    @Override
    public void refuseWaiting() {
        for (Http1Exchange next = waiting.poll(); next != null; next = waiting.poll()) {
            next.fail(UpstreamProblem.DRAINING);
        }
    }
}

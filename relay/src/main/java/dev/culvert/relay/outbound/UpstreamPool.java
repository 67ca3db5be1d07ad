package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one upstream, and the exchanges that wait for one. Counts the
 * connections, and keeps the queue; which connection an exchange gets depends on the protocol. Used only on
 * that loop.
 */
abstract sealed class UpstreamPool<C extends UpstreamConnection> permits Http1Pool, Http2Pool {
    final LoopUpstreams upstreams;
    final ArrayDeque<HttpExchange<C>> waiting = new ArrayDeque<>();
    private final UpstreamAddress address;
    private final int maxConnections;
    private Endpoints endpoints;
    private int open;

    UpstreamPool(LoopUpstreams upstreams, UpstreamAddress address, int maxConnections) {
        this.upstreams = upstreams;
        this.address = address;
        this.maxConnections = maxConnections;
        this.endpoints = upstreams.endpoints(address);
    }

    final UpstreamAddress address() {
        return address;
    }

    final UpstreamLimits limits() {
        return upstreams.limits();
    }

    final int generation() {
        return upstreams.generation();
    }

    final LongAdder buffered() {
        return upstreams.buffered();
    }

    final Endpoints endpoints() {
        return endpoints;
    }

    // ---- for exchanges ----

    /** Starts an exchange. */
    final RequestSink open(RelayRequest request, UpstreamCall call, ResponseSink response) {
        HttpExchange<C> exchange = exchange(request, call, response);
        exchange.start();
        return exchange;
    }

    abstract HttpExchange<C> exchange(RelayRequest request, UpstreamCall call, ResponseSink response);

    /** Gives the exchange a connection, now or later, or fails it. */
    abstract void acquire(HttpExchange<C> exchange);

    /** Brings the addresses up to date, and returns the best one; null: none is known. */
    final @Nullable Endpoint best() {
        endpoints = upstreams.endpoints(address);
        upstreams.refresh(address, endpoints);
        return endpoints.pick(List.of());
    }

    /** Lets the exchange wait for a connection. It fails with {@code otherwise} when its time is up. */
    final void queue(HttpExchange<C> exchange, Problem otherwise) {
        upstreams.keep(this);
        waiting.add(exchange);
        exchange.await(otherwise);
    }

    /** Lets the exchange wait for any connection to become free, unless too many wait. */
    final void queueOrRefuse(HttpExchange<C> exchange) {
        if (upstreams.mayWait()) {
            queue(exchange, UpstreamProblem.OVERLOADED);
        } else {
            exchange.fail(UpstreamProblem.OVERLOADED);
        }
    }

    /** An exchange without a connection is over. */
    final void forget(HttpExchange<C> exchange) {
        waiting.remove(exchange);
        upstreams.forgetIfEmpty(this);
    }

    // ---- connections ----

    final boolean mayOpen() {
        return open < maxConnections && upstreams.mayOpen();
    }

    /** @param to the address to try first; null: the best one */
    final void dial(@Nullable Endpoint to, UpstreamDialler.Outcome<C> outcome) {
        open++;
        upstreams.opened(this);
        upstreams.dial(address, endpoints, to, this::install, outcome);
    }

    /** Adds a connection to the end of its channel's pipeline. */
    abstract C install(Channel channel);

    /** A dial failed, or a connection was closed. */
    final void lost() {
        open--;
        upstreams.closed(this);
    }

    /** A connection was closed. */
    void closed(C connection) {
        upstreams.forget(connection);
        lost();
    }

    // ---- for the loop's upstreams ----

    /** Whether the pool has neither connections nor waiting exchanges, so that it can be removed. */
    final boolean isEmpty() {
        return open == 0 && waiting.isEmpty();
    }

    /** The number of exchanges that wait for a connection. */
    final int waiting() {
        return waiting.size();
    }

    /** Closes the connection that has been idle longest. Returns false if none is idle. */
    abstract boolean closeIdle();

    /** Opens connections for waiting exchanges, within the limits. */
    abstract void serveWaiting();

    /** Refuses the waiting exchanges, because the server stops. */
    final void refuseWaiting() {
        for (HttpExchange<C> next = waiting.poll(); next != null; next = waiting.poll()) {
            next.fail(UpstreamProblem.DRAINING);
        }
    }
}

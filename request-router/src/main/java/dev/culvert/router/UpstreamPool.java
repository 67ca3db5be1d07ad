package dev.culvert.router;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The connections to one upstream on one event loop. The connection used last is used next, so that others can idle out. */
final class UpstreamPool {
    private final LoopUpstreams upstreams;
    private final UpstreamAddress address;
    private final ArrayDeque<UpstreamConnection> idle = new ArrayDeque<>();
    private final ArrayDeque<UpstreamExchange> waiting = new ArrayDeque<>();
    private int open;

    UpstreamPool(LoopUpstreams upstreams, UpstreamAddress address) {
        this.upstreams = upstreams;
        this.address = address;
    }

    UpstreamAddress address() {
        return address;
    }

    UpstreamLimits limits() {
        return upstreams.limits();
    }

    boolean isEmpty() {
        return open == 0 && waiting.isEmpty();
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /** Gives the exchange a connection, now or later, or fails it. */
    void acquire(UpstreamExchange exchange) {
        for (UpstreamConnection kept = idle.pollLast(); kept != null; kept = idle.pollLast()) {
            if (kept.isUsable()) {
                exchange.attach(kept);
                return;
            }
            kept.close();
        }
        acquireNew(exchange);
    }

    /** The same, but with a connection that was never used. */
    void acquireNew(UpstreamExchange exchange) {
        if (mayOpen()) {
            open(exchange);
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

    private void open(UpstreamExchange exchange) {
        open++;
        upstreams.opened(this);
        exchange.await(UpstreamProblem.NO_CONNECTION);
        upstreams.dial(this, exchange);
    }

    /** A dial succeeded. Its exchange may have given up by now. */
    void connected(UpstreamConnection connection, UpstreamExchange exchange) {
        if (exchange.isOver()) {
            release(connection);
        } else {
            exchange.attach(connection);
        }
    }

    /** A dial failed, or a connection was closed. */
    void lost() {
        open--;
        upstreams.closed(this);
    }

    void closed(UpstreamConnection connection) {
        idle.remove(connection);
        upstreams.forget(connection);
        lost();
    }

    /** A connection has no exchange any more, and is as good as new. */
    void release(UpstreamConnection connection) {
        UpstreamExchange next = waiting.poll();
        if (next != null && connection.isUsable()) {
            next.attach(connection);
        } else if (!connection.isUsable() || upstreams.isShort()
                || idle.size() >= limits().idlePerUpstream()) {
            requeue(next);
            connection.close();
        } else {
            idle.addLast(connection);
            connection.rest();
        }
    }

    private void requeue(@Nullable UpstreamExchange next) {
        if (next != null) {
            waiting.addFirst(next);
        }
    }

    /** Opens connections for those that wait, as far as it may. */
    void serveWaiting() {
        while (!waiting.isEmpty() && mayOpen()) {
            open(waiting.remove());
        }
    }

    void forget(UpstreamExchange exchange) {
        waiting.remove(exchange);
    }

    int waiting() {
        return waiting.size();
    }

    /** Closes the connection that has been idle longest. False: none is. */
    boolean closeIdle() {
        UpstreamConnection oldest = idle.pollFirst();
        if (oldest == null) {
            return false;
        }
        oldest.close();
        return true;
    }

    /** Refuses those that wait. */
    void refuseWaiting() {
        for (UpstreamExchange next = waiting.poll(); next != null; next = waiting.poll()) {
            next.fail(UpstreamProblem.DRAINING);
        }
    }
}

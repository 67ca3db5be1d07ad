package dev.culvert.server;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps a storm of connections from taking a listener's whole time: so many TLS handshakes at once, then nothing is
 * accepted until one is over, and who was accepted beyond twice as many is turned away; and so many connections of one
 * address. Callable from any thread; a change takes the lock for a moment.
 */
final class HandshakeGate {
    /** About a second of one core's handshakes: what waits behind them waits in the kernel, at no cost. */
    static final int MAX_HANDSHAKES = 512;

    private final int maxHandshakes;
    private final int maxPerAddress;
    /** No entry for an address without a connection, so open sockets are its bound. */
    private final Map<InetAddress, Integer> connections = new ConcurrentHashMap<>();
    private int handshakes;
    private boolean paused;

    HandshakeGate(int maxHandshakes, int maxPerAddress) {
        this.maxHandshakes = maxHandshakes;
        this.maxPerAddress = maxPerAddress;
    }

    /** Counts a connection until {@code closed} is done. Returns false, and counts nothing, if the address has too many. */
    boolean admit(InetAddress address, Future<?> closed) {
        int[] before = new int[1];
        connections.compute(address, (key, count) -> {
            before[0] = count == null ? 0 : count;
            return Math.min(maxPerAddress, before[0] + 1);
        });
        if (before[0] >= maxPerAddress) {
            return false;
        }
        closed.addListener(done -> connections.computeIfPresent(address,
                (key, count) -> count > 1 ? count - 1 : null));
        return true;
    }

    /**
     * Counts a handshake until {@code over} is done, whatever its outcome; {@code server} accepts nothing while there are
     * too many. Returns false, and counts nothing, if there are twice too many.
     */
    boolean begin(Channel server, Future<?> over) {
        synchronized (this) {
            if (handshakes >= 2 * maxHandshakes) {
                return false;
            }
            handshakes++;
            pause(server, handshakes >= maxHandshakes);
        }
        over.addListener(done -> ended(server));
        return true;
    }

    private synchronized void ended(Channel server) {
        handshakes--;
        pause(server, handshakes >= maxHandshakes);
    }

    private void pause(Channel server, boolean wanted) {
        if (wanted != paused) {
            paused = wanted;
            server.config().setAutoRead(!wanted);
        }
    }

    synchronized int handshakes() {
        return handshakes;
    }

    /** Addresses with a connection. */
    int addresses() {
        return connections.size();
    }
}

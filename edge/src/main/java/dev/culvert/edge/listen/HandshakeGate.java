package dev.culvert.edge.listen;

import dev.culvert.edge.Telemetry;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Keeps a storm of connections from taking a listener's whole time: so many TLS handshakes at once, then nothing is
 * accepted until one is over, and who was accepted beyond twice as many is turned away; and so many connections of one
 * address. Callable from any thread; a change takes the lock for a moment.
 */
public final class HandshakeGate {
    /** About a second of one core's handshakes: what waits behind them waits in the kernel, at no cost. */
    public static final int MAX_HANDSHAKES = 512;

    private final int maxHandshakes;
    private final int maxPerAddress;
    /** No entry for an address without a connection, so open sockets are its bound. */
    private final Map<InetAddress, Integer> connections = new ConcurrentHashMap<>();
    private final LongAdder pauses = new LongAdder();
    private final LongAdder tooManyHandshakes = new LongAdder();
    private final LongAdder tooManyOfAddress = new LongAdder();
    private int handshakes;
    private boolean paused;

    public HandshakeGate(int maxHandshakes, int maxPerAddress) {
        this.maxHandshakes = maxHandshakes;
        this.maxPerAddress = maxPerAddress;
    }

    /** Shows how this gate does in the metrics of its server. */
    public HandshakeGate shown(Telemetry telemetry, String listener) {
        MeterRegistry registry = telemetry.registry();
        Gauge.builder("culvert.handshakes", this, HandshakeGate::handshakes)
                .tag("listener", listener)
                .strongReference(true)
                .register(registry);
        counter("culvert.accept.pauses", listener, pauses).register(registry);
        counter("culvert.connections.refused", listener, tooManyHandshakes)
                .tag("cause", "handshakes")
                .register(registry);
        counter("culvert.connections.refused", listener, tooManyOfAddress).tag("cause", "address")
                .register(registry);
        return this;
    }

    private static FunctionCounter.Builder<LongAdder> counter(String name,
            String listener, LongAdder count) {
        return FunctionCounter.builder(name, count, LongAdder::sum).tag("listener", listener);
    }

    /** Counts a connection until {@code closed} is done. Returns false, and counts nothing, if the address has too many. */
    public boolean admit(InetAddress address, Future<?> closed) {
        int[] before = new int[1];
        connections.compute(address, (key, count) -> {
            before[0] = count == null ? 0 : count;
            return Math.min(maxPerAddress, before[0] + 1);
        });
        if (before[0] >= maxPerAddress) {
            tooManyOfAddress.increment();
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
    public boolean begin(Channel server, Future<?> over) {
        synchronized (this) {
            if (handshakes >= 2 * maxHandshakes) {
                tooManyHandshakes.increment();
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
            if (wanted) {
                pauses.increment();
            }
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

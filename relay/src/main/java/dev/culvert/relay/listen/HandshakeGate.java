package dev.culvert.relay.listen;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.Channel;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Shares a listener among the sources of its connections: open connections, the memory of hellos that are not answered yet,
 * and TLS handshakes at once. Each has a total, and when that is reached the noisiest source gives way with its newest
 * connection, so that a storm from one source takes nothing from another. Only when many sources storm together, and none
 * of them is noisier than the others, the listener stops accepting until there is room. Callable from any thread.
 */
public final class HandshakeGate {
    /** About a second of one core's handshakes: what waits behind them is bounded by its memory. */
    public static final int MAX_HANDSHAKES = 512;

    /** What an idle connection with TLS takes up on the heap, about. */
    private static final long CONNECTION_BYTES = 48 << 10;
    private static final int FEWEST_CONNECTIONS = 1024;
    /** Some 8,000 connections that wait, as large as most hellos are. */
    private static final long MOST_HELLO_BYTES = 16 << 20;
    /** The least hellos, and what they may take of the direct memory. */
    private static final long LEAST_HELLO_BYTES = 1 << 20;
    private static final int HELLO_PART = 16;
    /** A source with less than this part of all is no noisy one: where it is refused, many storm together. */
    private static final int QUIET_PART = 64;

    private final int maxPerAddress;
    private final Quota<SourceAddress> connections;
    private final Quota<SourceAddress> hellos;
    private final HandshakePlaces places;
    private final LongAdder pauses = new LongAdder();
    private final LongAdder noisyHandshakes = new LongAdder();
    private final LongAdder tooManyOfAddress = new LongAdder();
    private final LongAdder tooManyInAll = new LongAdder();
    private @Nullable Channel pausedServer;

    /** With bounds of open connections and of hellos that fit the memory of this process. */
    public HandshakeGate(int maxHandshakes, int maxPerAddress) {
        this(maxHandshakes, maxPerAddress,
                Math.clamp(Runtime.getRuntime().maxMemory() / 4 / CONNECTION_BYTES, FEWEST_CONNECTIONS,
                        Integer.MAX_VALUE),
                Math.clamp(PlatformDependent.maxDirectMemory() / HELLO_PART, LEAST_HELLO_BYTES,
                        MOST_HELLO_BYTES));
    }

    /**
     * Makes the gate of a listener.
     *
     * @param maxHandshakes that run at once
     * @param maxPerAddress open connections of one source
     * @param maxConnections open connections of all
     * @param maxHelloBytes of connections whose handshake has not begun
     */
    HandshakeGate(int maxHandshakes, int maxPerAddress, int maxConnections, long maxHelloBytes) {
        this.maxPerAddress = maxPerAddress;
        connections = new Quota<>(maxConnections);
        hellos = new Quota<>(maxHelloBytes);
        places = new HandshakePlaces(maxHandshakes);
    }

    /** Shows how this gate does in the metrics of its server. */
    public HandshakeGate shown(Telemetry telemetry, String listener) {
        MeterRegistry registry = telemetry.registry();
        Gauge.builder("culvert.handshakes", this, HandshakeGate::handshakes)
                .tag("listener", listener)
                .strongReference(true)
                .register(registry);
        counter("culvert.accept.pauses", listener, pauses).register(registry);
        counter("culvert.connections.refused", listener, noisyHandshakes)
                .tag("cause", "handshakes")
                .register(registry);
        counter("culvert.connections.refused", listener, tooManyOfAddress).tag("cause", "address")
                .register(registry);
        counter("culvert.connections.refused", listener, tooManyInAll).tag("cause", "connections")
                .register(registry);
        return this;
    }

    private static FunctionCounter.Builder<LongAdder> counter(String name,
            String listener, LongAdder count) {
        return FunctionCounter.builder(name, count, LongAdder::sum).tag("listener", listener);
    }

    /**
     * Counts an open connection until it closes; it is closed when another source needs its place. Returns false, and counts
     * nothing, if its source has too many.
     */
    boolean admit(SourceAddress source, Channel channel) {
        Quota<SourceAddress>.Claim place = connections.open(source, () -> {
            tooManyInAll.increment();
            close(channel);
        });
        if (place.heldByAccount() >= maxPerAddress) {
            return refused(place, tooManyOfAddress);
        } else if (!place.tryTake(1)) {
            return refused(place, tooManyInAll);
        } else if (place.heldByAccount() > maxPerAddress) { // others of it came at the same moment
            return refused(place, tooManyOfAddress);
        }
        channel.closeFuture().addListener(closed -> place.close());
        return true;
    }

    private static boolean refused(Quota<SourceAddress>.Claim place, LongAdder count) {
        place.close();
        count.increment();
        return false;
    }

    /** On a later pass of its event loop: who needs the place may hold locks. */
    private static void close(Channel channel) {
        channel.eventLoop().execute(channel::close);
    }

    /** Begins to count what a connection keeps until its handshake begins. It is closed when another source needs the room. */
    Quota<SourceAddress>.Claim hello(SourceAddress source, Channel channel) {
        return hellos.open(source, () -> gaveWay(channel));
    }

    /** Closes a connection whose hello or handshake has to make room for another source's. */
    void gaveWay(Channel channel) {
        noisyHandshakes.increment();
        close(channel);
    }

    /**
     * Counts {@code cost} bytes for a connection's hello. Returns false if there is no room for them: the connection is to be
     * closed. While all sources are quiet ones, {@code server} accepts nothing instead, up to twice the room.
     */
    boolean keep(Quota<SourceAddress>.Claim hello, long cost, @Nullable Channel server) {
        long more = cost - hello.held();
        if (more <= 0 || hello.tryTake(more)) {
            return true;
        }
        boolean quiet = hello.heldByAccount() + more <= Math.max(hellos.max() / QUIET_PART, cost);
        if (quiet && server != null && hellos.used() + more <= 2 * hellos.max()) {
            hello.take(more);
            pause(server);
            return true;
        }
        noisyHandshakes.increment();
        return false;
    }

    /** The hello is answered, or its connection closed. */
    void drop(Quota<SourceAddress>.Claim hello) {
        hello.close();
        resume();
    }

    private synchronized void pause(Channel server) {
        if (pausedServer == null) {
            pausedServer = server;
            pauses.increment();
            server.config().setAutoRead(false);
        }
    }

    private void resume() {
        if (hellos.used() > hellos.max() / 4 * 3) {
            return;
        }
        synchronized (this) {
            Channel server = pausedServer;
            if (server != null) {
                pausedServer = null;
                server.config().setAutoRead(true);
            }
        }
    }

    /** Who may begin a handshake. */
    HandshakePlaces places() {
        return places;
    }

    /** Handshakes that run now. */
    int handshakes() {
        return places.running();
    }

    /** Bytes of hellos that are not answered yet. */
    long helloBytes() {
        return hellos.used();
    }

    /** Sources with a connection. */
    int sources() {
        return connections.accounts();
    }
}

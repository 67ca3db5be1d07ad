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
 * Shares a listener among the sources of its connections. It limits open connections, the memory of hellos
 * that are not answered yet, and concurrent TLS handshakes. When all connections are open, silent ones give
 * way to newcomers ({@link ConnectionPlaces}). When another total is reached, the source that holds most
 * loses its newest connection, so that a storm from one source takes nothing from another. Only when many
 * sources storm together, and none holds more than the others, the listener stops accepting until there is
 * room. Callable from any thread.
 */
public final class HandshakeGate {
    /**
     * About the number of handshakes that one core computes in a second. The queue behind them is bounded by
     * its memory.
     */
    public static final int MAX_HANDSHAKES = 512;

    /** The approximate heap bytes of an idle connection with TLS. */
    private static final long CONNECTION_BYTES = 48 << 10;
    private static final int FEWEST_CONNECTIONS = 1024;
    /** Enough for about 8,000 waiting connections with hellos of usual size. */
    private static final long MAX_HELLO_BYTES = 16 << 20;
    /**
     * The minimum bytes for hellos. Otherwise they may take one {@link #HELLO_PART}th of the direct memory.
     */
    private static final long MIN_HELLO_BYTES = 1 << 20;
    private static final int HELLO_PART = 16;
    /**
     * A source that holds less than one {@code QUIET_PART}th of the total is quiet. If a quiet source finds
     * no room, many sources storm together.
     */
    private static final int QUIET_PART = 64;

    private final int maxPerAddress;
    private final ConnectionPlaces connections;
    private final Quota<SourceAddress> hellos;
    private final HandshakePlaces places;
    private final LongAdder pauses = new LongAdder();
    private final LongAdder noisyHandshakes = new LongAdder();
    private final LongAdder tooManyOfAddress = new LongAdder();
    private final LongAdder tooManyInAll = new LongAdder();
    private @Nullable Channel pausedServer;

    /** Creates a gate whose bounds for open connections and hellos derive from the memory of this process. */
    public HandshakeGate(int maxHandshakes, int maxPerAddress) {
        this(maxHandshakes, maxPerAddress,
                Math.clamp(Runtime.getRuntime().maxMemory() / 4 / CONNECTION_BYTES, FEWEST_CONNECTIONS,
                        Integer.MAX_VALUE),
                Math.clamp(PlatformDependent.maxDirectMemory() / HELLO_PART, MIN_HELLO_BYTES,
                        MAX_HELLO_BYTES));
    }

    /**
     * Creates the gate of a listener.
     *
     * @param maxHandshakes the maximum number of concurrent handshakes
     * @param maxPerAddress the maximum number of open connections of one source
     * @param maxConnections the maximum number of open connections of all sources
     * @param maxHelloBytes the maximum number of bytes of connections whose handshake has not begun
     */
    HandshakeGate(int maxHandshakes, int maxPerAddress, int maxConnections, long maxHelloBytes) {
        this.maxPerAddress = maxPerAddress;
        connections = new ConnectionPlaces(maxConnections);
        hellos = new Quota<>(maxHelloBytes);
        places = new HandshakePlaces(maxHandshakes);
    }

    /** Registers the meters of this gate. Returns this gate. */
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
     * Counts an open connection until it closes. A silent connection is closed when another one needs its
     * place. Returns false and counts nothing if its source has too many connections, or all places are
     * taken.
     */
    boolean admit(SourceAddress source, Channel channel) {
        if (connections.of(source) >= maxPerAddress) {
            tooManyOfAddress.increment();
            return false;
        }
        ConnectionPlaces.Admission admission = connections.open(source, channel);
        admission.gaveWay().forEach(gaveWay -> {
            tooManyInAll.increment();
            end(gaveWay);
        });
        ConnectionPlace place = admission.place();
        if (place == null) {
            tooManyInAll.increment();
            return false;
        }
        channel.closeFuture().addListener(closed -> connections.close(place));
        if (connections.of(source) > maxPerAddress) { // concurrent admissions
            connections.close(place);
            tooManyOfAddress.increment();
            return false;
        }
        return true;
    }

    /** Closes a connection that gives way, unless something has come from it meanwhile: then it stays. */
    private void end(ConnectionPlaces.Silent gaveWay) {
        Channel channel = gaveWay.place.channel();
        channel.eventLoop().execute(() -> {
            if (!gaveWay.isStill() && channel.isActive()) {
                connections.stays(gaveWay.place);
            } else {
                channel.close();
            }
        });
    }

    /**
     * Closes a connection on a later pass of its event loop, because the thread that needs the place may hold
     * locks.
     */
    private static void close(Channel channel) {
        channel.eventLoop().execute(channel::close);
    }

    /**
     * Opens the account of the bytes that a connection keeps until its handshake begins. The connection is
     * closed when another source needs the memory.
     */
    Quota<SourceAddress>.Claim hello(SourceAddress source, Channel channel) {
        return hellos.open(source, () -> gaveWay(channel));
    }

    /** Closes a connection whose hello or handshake another source displaces. */
    void gaveWay(Channel channel) {
        noisyHandshakes.increment();
        close(channel);
    }

    /**
     * Counts {@code cost} bytes for a connection's hello. Returns false if there is no room: the caller must
     * then close the connection. While all sources are quiet, {@code server} stops accepting instead, and
     * hellos may take twice the maximum.
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

    /** Releases the account of a hello that is answered or whose connection closed. */
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

    /** The places of concurrent handshakes. */
    HandshakePlaces places() {
        return places;
    }

    /** The number of handshakes in progress. */
    int handshakes() {
        return places.running();
    }

    /** The bytes of hellos that are not answered yet. */
    long helloBytes() {
        return hellos.used();
    }

    /** The number of sources with a connection. */
    int sources() {
        return connections.sources();
    }
}

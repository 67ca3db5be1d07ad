package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.Hello.Nonce;
import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Duration;

/**
 * Two sessions with a fake link between them and a virtual clock. Every buffer comes from one allocator; {@link #close}
 * fails when one was not released.
 */
final class SessionPair implements AutoCloseable {
    private static final Limits LIMITS = SessionLimits.defaults().accepts();

    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    final Side server;
    final Side client;
    /** Starts below zero, as {@code System.nanoTime()} may. */
    long nowNanos = -Duration.ofSeconds(20).toNanos();

    SessionPair() {
        this(LIMITS, LIMITS);
    }

    /** Both sessions with limits of their own. */
    SessionPair(Limits serverLimits, Limits clientLimits) {
        this(hello(1, 1, serverLimits), hello(1, 1, clientLimits));
    }

    SessionPair(Hello serverHello, Hello clientHello) {
        this(serverHello, clientHello, new WindowPool(0, () -> true));
    }

    private SessionPair(Hello serverHello, Hello clientHello, WindowPool pool) {
        server = side(Role.SERVER, serverHello, pool);
        client = side(Role.CLIENT, clientHello, pool);
        server.onEvent = event -> {
            if (event instanceof PeerHello) {
                server.session.ready(1, 2, 3, "acme/prod", "acme-prod.tunnels.example.com");
            }
        };
    }

    private Side side(Role role, Hello hello, WindowPool pool) {
        SessionLimits limits = SessionLimits.defaults().accepting(hello.limits());
        return new Side(role, new Session(role, hello, limits, pool.account(), () -> nowNanos), allocator);
    }

    /** Two sessions that are live. */
    static SessionPair live() {
        return new SessionPair().opened();
    }

    /** Two sessions that are live, and whose windows grow by what the pool lends. */
    static SessionPair growing(WindowPool pool) {
        return new SessionPair(hello(1, 1, LIMITS), hello(1, 1, LIMITS), pool).opened();
    }

    static SessionPair live(Limits serverLimits, Limits clientLimits) {
        return new SessionPair(serverLimits, clientLimits).opened();
    }

    static SessionPair live(Limits limits) {
        return live(limits, limits);
    }

    private SessionPair opened() {
        drive();
        assertThat(server.session.isLive() && client.session.isLive()).isTrue();
        return this;
    }

    static Hello hello(int minVersion, int maxVersion, Limits limits) {
        return new Hello(minVersion, maxVersion, 0, 7, 8, 0, true, limits, new Nonce(1, 2, 3, 4),
                "culvert test");
    }

    /** The default limits with other windows. */
    static Limits windows(int streamWindow, int sessionWindow) {
        return new Limits(LIMITS.streams(), LIMITS.headBytes(), LIMITS.headFields(), LIMITS.hpackTableBytes(),
                streamWindow, sessionWindow);
    }

    /** The default limits for fewer streams. */
    static Limits streams(int streams) {
        return new Limits(streams, LIMITS.headBytes(), LIMITS.headFields(), LIMITS.hpackTableBytes(),
                LIMITS.streamWindow(), LIMITS.sessionWindow());
    }

    /** The default limits with other ones for heads. */
    static Limits heads(int bytes, int fields, int hpackTableBytes) {
        return new Limits(LIMITS.streams(), bytes, fields, hpackTableBytes, LIMITS.streamWindow(),
                LIMITS.sessionWindow());
    }

    /** Latency of both directions. */
    SessionPair latency(Duration latency) {
        server.out.latency(latency);
        client.out.latency(latency);
        return this;
    }

    /** Runs until nothing is on its way and nothing can be sent. Timers do not fire, however long that takes. */
    void drive() {
        run(Long.MAX_VALUE, false);
    }

    /** Lets time pass, timers included. */
    void advance(Duration time) {
        run(nowNanos + time.toNanos(), true);
    }

    private void run(long untilNanos, boolean timers) {
        while (true) {
            if (step()) {
                continue;
            }
            long next = Math.min(server.out.nextNanos(nowNanos, server.session.hasFrames()),
                    client.out.nextNanos(nowNanos, client.session.hasFrames()));
            if (timers) {
                next = Math.min(next,
                        Math.min(server.session.nextDeadlineNanos(), client.session.nextDeadlineNanos()));
            }
            if (next == Long.MAX_VALUE || next > untilNanos) {
                nowNanos = timers ? untilNanos : nowNanos;
                return;
            }
            nowNanos = Math.max(nowNanos, next);
            if (timers) {
                fire(server.session);
                fire(client.session);
            }
        }
    }

    private void fire(Session session) {
        if (session.nextDeadlineNanos() <= nowNanos) {
            session.onDeadline(nowNanos);
        }
    }

    private boolean step() {
        boolean serverReceived = server.receive(client.out, nowNanos);
        boolean clientReceived = client.receive(server.out, nowNanos);
        boolean serverSent = server.send(nowNanos);
        boolean clientSent = client.send(nowNanos);
        return serverReceived || clientReceived || serverSent || clientSent;
    }

    /** Opens a stream whose request has ended, and lets it arrive. */
    int request() {
        int id = server.open("/", true);
        drive();
        return id;
    }

    /** Nothing is open, held back or waiting to be sent. */
    void assertIdle() {
        for (Side side : new Side[]{server, client}) {
            assertThat(side.session.streamCount()).as("streams").isZero();
            assertThat(side.session.bufferedBytes()).as("bufferedBytes").isZero();
            assertThat(side.session.hasFrames()).as("hasFrames").isFalse();
            assertThat(side.session.session.outbox.queuedEntries()).as("queued").isZero();
        }
    }

    /** The WebSocket is gone at both ends. */
    void disconnect() {
        server.session.disconnected();
        client.session.disconnected();
        server.drainEvents();
        client.drainEvents();
    }

    /** Ends both sessions and counts the buffers. */
    @Override
    public void close() {
        disconnect();
        server.out.release();
        client.out.release();
        for (Side side : new Side[]{server, client}) {
            assertThat(side.session.isClosed()).isTrue();
            assertThat(side.session.streamCount()).as("streams").isZero();
            assertThat(side.session.bufferedBytes()).as("bufferedBytes").isZero();
        }
        assertThat(allocator.metric().usedHeapMemory()).as("bytes not released").isZero();
        assertThat(allocator.metric().usedDirectMemory()).as("direct bytes not released").isZero();
    }
}

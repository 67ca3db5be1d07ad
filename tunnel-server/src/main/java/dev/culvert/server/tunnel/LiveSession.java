package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.SessionView;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One session that carries a runtime's tunnel. Fields are read on any thread; the session itself on its event
 * loop.
 */
public final class LiveSession {
    /** The grace of a drain, as in the contract. */
    static final Duration DRAIN_GRACE = Duration.ofSeconds(30);
    /**
     * The end of that grace: WebSockets get their Close at its start, so those in the middle of a frame can
     * finish it.
     */
    static final Duration LAST_WORDS = Duration.ofSeconds(2);

    final UUID id;
    final RegisteredRuntime runtime;
    final Hello hello;
    public final long generation;
    final TunnelChannelHandler handler;
    final EventLoop loop;
    private final Instant since;
    final String remote;
    /** What its TLS agreed on; null: it has none. */
    final @Nullable KeyExchange tls;
    /** Whether streams may be opened, as seen by other threads. */
    private volatile boolean accepting = true;
    /** When the client's certificate ends; null: not known yet. */
    private volatile @Nullable Instant certificateUntil;
    /** Closes the session when a drain takes too long. On the event loop. */
    private @Nullable ScheduledFuture<?> cut;
    /** Closes its WebSockets before that. On the event loop. */
    private @Nullable ScheduledFuture<?> lastWords;

    public LiveSession(UUID id, RegisteredRuntime runtime, Hello hello, long generation,
            TunnelChannelHandler handler,
            Instant since, String remote) {
        this(id, runtime, hello, generation, handler, since, remote, null);
    }

    /** @param tls what the TLS of its connection agreed on; null: it has none */
    public LiveSession(UUID id, RegisteredRuntime runtime, Hello hello, long generation,
            TunnelChannelHandler handler,
            Instant since, String remote, @Nullable KeyExchange tls) {
        this.tls = tls;
        this.id = id;
        this.runtime = runtime;
        this.hello = hello;
        this.generation = generation;
        this.handler = handler;
        this.loop = handler.eventLoop();
        this.since = since;
        this.remote = remote;
    }

    public boolean isAccepting() {
        return accepting;
    }

    /** Keeps when the certificate ends that the client has proven. */
    public void provenUntil(Instant end) {
        certificateUntil = end;
    }

    boolean isOf(Hello other) {
        return hello.instanceHigh() == other.instanceHigh() && hello.instanceLow() == other.instanceLow();
    }

    boolean isOf(UUID instance) {
        return hello.instanceHigh() == instance.getMostSignificantBits()
                && hello.instanceLow() == instance.getLeastSignificantBits();
    }

    void stopAccepting() {
        accepting = false;
    }

    /**
     * Opens no more streams, sends go-away, and closes when the streams in flight have ended, at the latest
     * after {@link #DRAIN_GRACE}. WebSockets are closed {@link #LAST_WORDS} before that.
     */
    void drain(ErrorCode code, String detail) {
        drain(code, 0, detail);
    }

    /** @param delayMillis the time after which the client should dial again */
    void drain(ErrorCode code, int delayMillis, String detail) {
        accepting = false;
        loop.execute(() -> {
            handler.goAway(code, delayMillis, detail);
            if (cut == null) {
                lastWords = loop.schedule(handler::ending, DRAIN_GRACE.minus(LAST_WORDS).toMillis(),
                        TimeUnit.MILLISECONDS);
                cut = loop.schedule(() -> handler.close(code, detail), DRAIN_GRACE.toMillis(),
                        TimeUnit.MILLISECONDS);
            }
        });
    }

    /**
     * Closes its WebSockets, each at the end of a frame, because another session needs its place soon. All
     * other streams go on until then.
     */
    void closeWebSockets() {
        loop.execute(handler::ending);
    }

    /**
     * Opens no more streams, sends go-away, and closes when the streams in flight have ended. There is no
     * time limit, because the client is live on another connection.
     */
    void retire(ErrorCode code, String detail) {
        accepting = false;
        loop.execute(() -> handler.goAway(code, 0, detail));
    }

    /** Cancels the timers of an ended session. On the event loop. */
    public void ended() {
        if (cut != null) {
            cut.cancel(false);
        }
        if (lastWords != null) {
            lastWords.cancel(false);
        }
    }

    /** Closes at once. */
    void close(ErrorCode code, String detail) {
        accepting = false;
        loop.execute(() -> handler.close(code, detail));
    }

    SessionView view() {
        long rtt = handler.rttNanos();
        return new SessionView(id.toString(), runtime.id(), generation, accepting ? "open" : "draining",
                since,
                rtt < 0 ? Double.NaN : rtt / 1e9, handler.streamCount(), remote, hello.software(),
                certificateUntil);
    }
}

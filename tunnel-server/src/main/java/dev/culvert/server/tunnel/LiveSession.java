package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.SessionView;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One session that carries a runtime's tunnel. Fields are read on any thread; the session itself on its event loop. */
public final class LiveSession {
    /** The contract's grace of a drain. */
    static final Duration DRAIN_GRACE = Duration.ofSeconds(30);
    /** Of it, what is left for WebSockets in the middle of a frame when all of them get their Close. */
    static final Duration LAST_WORDS = Duration.ofSeconds(2);

    final UUID id;
    final RegisteredRuntime runtime;
    final Hello hello;
    public final long generation;
    final TunnelChannelHandler handler;
    final EventLoop loop;
    private final Instant since;
    final String remote;
    /** Whether streams may be opened, as far as other threads know. */
    private volatile boolean accepting = true;
    /** Ends a drain that takes too long. On the event loop. */
    private @Nullable ScheduledFuture<?> cut;
    /** Closes WebSockets before that. On the event loop. */
    private @Nullable ScheduledFuture<?> lastWords;

    public LiveSession(UUID id, RegisteredRuntime runtime, Hello hello, long generation,
            TunnelChannelHandler handler,
            Instant since, String remote) {
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

    boolean isOf(Hello other) {
        return hello.instanceHigh() == other.instanceHigh() && hello.instanceLow() == other.instanceLow();
    }

    public void stopAccepting() {
        accepting = false;
    }

    /**
     * Opens no more streams, tells the client, and closes when those in flight have ended, after {@link #DRAIN_GRACE} in
     * any case; {@link #LAST_WORDS} before that WebSockets are closed.
     */
    void drain(ErrorCode code, String detail) {
        accepting = false;
        loop.execute(() -> {
            handler.goAway(code, 0, detail);
            if (cut == null) {
                lastWords = loop.schedule(handler::ending, DRAIN_GRACE.minus(LAST_WORDS).toMillis(),
                        TimeUnit.MILLISECONDS);
                cut = loop.schedule(() -> handler.close(code, detail), DRAIN_GRACE.toMillis(),
                        TimeUnit.MILLISECONDS);
            }
        });
    }

    /** Closes its WebSockets, each at the end of a frame: others need its place soon. All else goes on until then. */
    void closeWebSockets() {
        loop.execute(handler::ending);
    }

    /**
     * Opens no more streams, tells the client, and closes when those in flight have ended, however long they take: the
     * client is there, on another connection.
     */
    void retire(ErrorCode code, String detail) {
        accepting = false;
        loop.execute(() -> handler.goAway(code, 0, detail));
    }

    /** The session is over. On the event loop. */
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
                rtt < 0 ? Double.NaN : rtt / 1e9, handler.streamCount(), remote, hello.software());
    }
}

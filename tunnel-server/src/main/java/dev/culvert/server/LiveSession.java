package dev.culvert.server;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import io.netty.channel.EventLoop;
import java.time.Instant;
import java.util.UUID;

/** One session that carries a runtime's tunnel. Fields are read on any thread; the session itself on its event loop. */
final class LiveSession {
    final UUID id;
    final RegisteredRuntime runtime;
    final Hello hello;
    final long generation;
    final TunnelChannelHandler handler;
    final EventLoop loop;
    private final Instant since;
    private final String remote;
    /** Whether streams may be opened, as far as other threads know. */
    private volatile boolean accepting = true;

    LiveSession(UUID id, RegisteredRuntime runtime, Hello hello, long generation,
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

    boolean isAccepting() {
        return accepting;
    }

    boolean isOf(Hello other) {
        return hello.instanceHigh() == other.instanceHigh() && hello.instanceLow() == other.instanceLow();
    }

    void stopAccepting() {
        accepting = false;
    }

    /** Opens no more streams, tells the client, and closes when those in flight are done. */
    void drain(ErrorCode code, String detail) {
        accepting = false;
        loop.execute(() -> handler.goAway(code, 0, detail));
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

package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.WaitingClient;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A session that waits while another instance owns its runtime (docs/protocol.md §4.3). Fields are read on
 * any thread; the session itself on its event loop.
 */
public final class WaitingSession {
    public final UUID id;
    final RegisteredRuntime runtime;
    final Hello hello;
    final UUID instance;
    final String remote;
    private final TunnelChannelHandler handler;
    private final EventLoop loop;
    /** The start of the instance's waiting, on an earlier session, too. Guarded by the tunnel. */
    volatile Instant since;
    /** The generation of its promotion; 0: it waits. Guarded by the tunnel. */
    volatile long generation;
    /** Ends the session unless the promotion is answered. On the event loop. */
    private @Nullable ScheduledFuture<?> deadline;

    public WaitingSession(UUID id, RegisteredRuntime runtime, Hello hello, TunnelChannelHandler handler,
            Instant since, String remote) {
        this.id = id;
        this.runtime = runtime;
        this.hello = hello;
        this.instance = instanceOf(hello);
        this.handler = handler;
        this.loop = handler.eventLoop();
        this.since = since;
        this.remote = remote;
    }

    static UUID instanceOf(Hello hello) {
        return new UUID(hello.instanceHigh(), hello.instanceLow());
    }

    /** Tells the client that it owns the runtime. Calls {@code expired} unless it answers in time. */
    void promote(long promotedTo, Runnable expired) {
        generation = promotedTo;
        loop.execute(() -> {
            deadline = loop.schedule(expired, Promotions.ANSWER.toMillis(), TimeUnit.MILLISECONDS);
            handler.ready(id.getMostSignificantBits(), id.getLeastSignificantBits(), promotedTo,
                    runtime.name().toString(), runtime.host());
        });
    }

    /** Cancels the timer: the promotion was answered, or the session has ended. On the event loop. */
    public void ended() {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    /** Sends the client away. It dials again after {@code delayMillis}. */
    void goAway(ErrorCode code, int delayMillis, String detail) {
        loop.execute(() -> handler.goAway(code, delayMillis, detail));
    }

    void close(ErrorCode code, String detail) {
        loop.execute(() -> handler.close(code, detail));
    }

    WaitingClient view(Instant now) {
        return new WaitingClient(remote, hello.software(), since, now,
                generation == 0 ? WaitingClient.State.WAITING : WaitingClient.State.PROMOTED,
                hello.standby());
    }
}

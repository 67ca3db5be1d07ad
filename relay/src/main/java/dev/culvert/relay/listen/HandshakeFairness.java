package dev.culvert.relay.listen;

import dev.culvert.http.net.HandlerNames;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps connections that are being set up from delaying established ones. On each pass an event loop serves
 * one connection in set-up, after the established connections. Setting one up costs milliseconds of
 * cryptography, and in a storm hundreds are due at the same time. Connections that have begun are served
 * first, so that they finish before their time-outs. First in its pipeline until {@link #over}; reads no
 * further while its connection waits.
 */
public final class HandshakeFairness extends ChannelInboundHandlerAdapter {
    /** A connection with more turns loses its priority. TLS, a certificate and a session take fewer. */
    static final int MAX_TURNS = 8;

    /** One queue for each event loop: a loop runs on one thread. */
    private static final FastThreadLocal<Turns> TURNS = new FastThreadLocal<>() {
        @Override
        protected Turns initialValue() {
            return new Turns();
        }
    };

    /** The messages of one read. The next read follows only after these were served. */
    private final Queue<Object> received = new ArrayDeque<>(2);
    private @Nullable ChannelHandlerContext context;
    private boolean served;
    private int turns;

    private HandshakeFairness() {}

    /** Makes {@code channel} wait for its turn from now on. */
    public static void begin(Channel channel) {
        channel.pipeline().addFirst(HandlerNames.HANDSHAKE_TURN, new HandshakeFairness());
    }

    /** As {@link #begin}, for a connection that has had turns on another event loop. */
    public static void resume(Channel channel) {
        HandshakeFairness resumed = new HandshakeFairness();
        resumed.turns = 1;
        channel.pipeline().addFirst(HandlerNames.HANDSHAKE_TURN, resumed);
    }

    /** Ends the waiting: the connection is set up. Call on its event loop. */
    public static void over(Channel channel) {
        if (channel.pipeline().get(HandshakeFairness.class) != null) {
            channel.pipeline().remove(HandshakeFairness.class);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        received.add(message);
        if (received.size() == 1) {
            ctx.channel().config().setAutoRead(false);
            TURNS.get().add(this);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (received.isEmpty()) {
            ctx.fireChannelReadComplete();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        drop();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (!served) {
            serve();
        }
    }

    private void serve() {
        ChannelHandlerContext ctx = Objects.requireNonNull(context);
        if (received.isEmpty()) {
            return;
        }
        served = true;
        // Before the bytes are passed on, because their receivers may turn reading off again.
        ctx.channel().config().setAutoRead(true);
        for (int left = received.size(); left > 0; left--) {
            ctx.fireChannelRead(received.remove());
        }
        ctx.fireChannelReadComplete();
        served = false;
    }

    private void drop() {
        for (Object message = received.poll(); message != null; message = received.poll()) {
            ReferenceCountUtil.release(message);
        }
    }

    private EventLoop loop() {
        return Objects.requireNonNull(context).channel().eventLoop();
    }

    private boolean hasBegun() {
        return turns > 0 && turns < MAX_TURNS;
    }

    /** The connections that wait on one event loop. Each is queued at most once. */
    private static final class Turns implements Runnable {
        private final Queue<HandshakeFairness> begun = new ArrayDeque<>();
        private final Queue<HandshakeFairness> others = new ArrayDeque<>();
        private boolean due;

        void add(HandshakeFairness next) {
            (next.hasBegun() ? begun : others).add(next);
            if (!due) {
                due = true;
                next.loop().execute(this);
            }
        }

        @Override
        public void run() {
            HandshakeFairness next = begun.isEmpty() ? others.remove() : begun.remove();
            try {
                next.turns++;
                next.serve();
            } finally {
                due = !begun.isEmpty() || !others.isEmpty();
                if (due) {
                    // Not execute: the task would run in the same pass, before the loop polls its sockets.
                    var _ = next.loop().schedule(this, 1, TimeUnit.NANOSECONDS);
                }
            }
        }
    }
}

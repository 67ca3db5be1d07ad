package dev.culvert.relay.listen;

import dev.culvert.http.net.PassShare;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Withholds a connection's bytes from TLS until its ClientHello is complete and a place is free, because a
 * handshake costs nothing before. The connection keeps the place until its handshake is over, but at most for
 * a second, so that stalling peers delay no others. First in its pipeline.
 *
 * <pre>
 *  SILENT ──first byte──► PARTIAL ──hello whole──► WAITING ──a place, its turn on the loop──► removed
 *                            └─ no hello, too long, too slow, no room: closed
 * </pre>
 */
final class HandshakeSlot extends ChannelInboundHandlerAdapter implements HandshakePlaces.Waiting {
    /**
     * The maximum time in a place. Longer than a handshake with a distant client; the CPU work of a slower
     * one is mostly done by then.
     */
    static final Duration MAX = Duration.ofSeconds(1);
    /**
     * The time from a hello's first byte to its last. A hello takes two packets, and each may be lost once or
     * twice.
     */
    static final Duration HELLO_TIME = Duration.ofSeconds(3);

    private final HandshakeGate gate;
    private final SourceAddress source;
    private final Future<?> handshake;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ClientHelloReader reader;
    private Quota<SourceAddress>.@Nullable Claim kept;
    private @Nullable Future<?> timeout;
    private boolean whole;

    /** @param handshake done when the handshake succeeds or fails */
    HandshakeSlot(HandshakeGate gate, SourceAddress source, Future<?> handshake) {
        this.gate = gate;
        this.source = source;
        this.handshake = handshake;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (!ctx.channel().isOpen()) {
            bytes.release();
            return;
        }
        try {
            boolean isWhole = reader(ctx).take(bytes);
            if (!gate.keep(Objects.requireNonNull(kept), reader(ctx).cost(), ctx.channel().parent())) {
                ctx.close();
            } else if (!isWhole && timeout == null) {
                timeout = ctx.executor()
                        .schedule(() -> ctx.close(), HELLO_TIME.toMillis(), TimeUnit.MILLISECONDS);
            } else if (isWhole && !whole) {
                whole = true;
                ConnectionPlace.of(ctx.channel()).greeted();
                ask(ctx);
            }
        } catch (EdgeException noHello) {
            ctx.close();
        }
    }

    private ClientHelloReader reader(ChannelHandlerContext ctx) {
        ClientHelloReader present = reader;
        if (present == null) {
            present = new ClientHelloReader(ctx.alloc());
            reader = present;
            kept = gate.hello(source, ctx.channel());
        }
        return present;
    }

    private void ask(ChannelHandlerContext ctx) {
        stopTimer();
        ctx.channel().config().setAutoRead(false);
        Quota<SourceAddress>.Claim place = gate.places().ask(source, this);
        if (place != null) {
            await(ctx, place);
        }
    }

    /** TLS takes the hello in this loop's pass or a later one: its answer costs about a millisecond. */
    private void await(ChannelHandlerContext ctx, Quota<SourceAddress>.Claim place) {
        PassShare.run(ctx.channel().eventLoop(), source, () -> go(ctx, place));
    }

    @Override
    public void begin(Quota<SourceAddress>.Claim place) {
        ChannelHandlerContext ctx = Objects.requireNonNull(context);
        ctx.executor().execute(() -> await(ctx, place));
    }

    private void go(ChannelHandlerContext ctx, Quota<SourceAddress>.Claim place) {
        if (reader == null || !ctx.channel().isActive()) {
            gate.places().over(place); // the connection closed meanwhile
            return;
        }
        ctx.channel().config().setAutoRead(true);
        over(ctx.channel()).addListener(done -> gate.places().over(place));
        ByteBuf hello = reader.bytes();
        end();
        ctx.fireChannelRead(hello);
        ctx.pipeline().remove(this);
        ctx.pipeline().fireChannelReadComplete();
    }

    @Override
    public void giveWay() {
        gate.gaveWay(Objects.requireNonNull(context).channel());
    }

    /** Stops the timer and releases the hello's account, and its bytes if TLS has not taken them. */
    private void end() {
        stopTimer();
        if (reader != null) {
            reader.release();
            reader = null;
        }
        if (kept != null) {
            gate.drop(kept);
            kept = null;
        }
    }

    private void stopTimer() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        gate.places().leave(source, this);
        end();
    }

    private Future<Void> over(Channel channel) {
        Promise<Void> over = channel.eventLoop().newPromise();
        var timer = channel.eventLoop()
                .schedule(() -> over.trySuccess(null), MAX.toMillis(), TimeUnit.MILLISECONDS);
        handshake.addListener(done -> {
            timer.cancel(false);
            over.trySuccess(null);
        });
        return over;
    }
}

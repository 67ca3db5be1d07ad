package dev.culvert.relay.listen;

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
 * Keeps a connection from its TLS until its ClientHello is whole and a place is free, as a handshake costs nothing before. The
 * place is the connection's until the handshake is over, and for a second at most: peers that stall hold up nobody. First
 * in its pipeline.
 *
 * <pre>
 *  SILENT ──first byte──► PARTIAL ──hello whole──► WAITING ──a place──► removed
 *                            └─ no hello, too long, too slow, no room: closed
 * </pre>
 */
final class HandshakeSlot extends ChannelInboundHandlerAdapter implements HandshakePlaces.Waiting {
    /** Longer than a handshake over half the world; who is slower has had its work done by then. */
    static final Duration MOST = Duration.ofSeconds(1);
    /** From a hello's first byte to its last: it is two packets, of which each may be lost once or twice. */
    static final Duration HELLO_TIME = Duration.ofSeconds(3);

    private final HandshakeGate gate;
    private final SourceAddress source;
    private final Future<?> handshake;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ClientHelloReader reader;
    private Quota<SourceAddress>.@Nullable Claim kept;
    private @Nullable Future<?> timeout;
    private boolean whole;

    /** @param handshake done when the handshake is over */
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
        Quota<SourceAddress>.Claim place = gate.places().ask(source, this);
        if (place == null) {
            ctx.channel().config().setAutoRead(false);
        } else {
            go(ctx, place);
        }
    }

    @Override
    public void begin(Quota<SourceAddress>.Claim place) {
        ChannelHandlerContext ctx = Objects.requireNonNull(context);
        ctx.executor().execute(() -> {
            if (reader == null || !ctx.channel().isActive()) {
                gate.places().over(place); // closed meanwhile
                return;
            }
            ctx.channel().config().setAutoRead(true);
            go(ctx, place);
            ctx.pipeline().fireChannelReadComplete();
        });
    }

    private void go(ChannelHandlerContext ctx, Quota<SourceAddress>.Claim place) {
        over(ctx.channel()).addListener(done -> gate.places().over(place));
        ByteBuf hello = Objects.requireNonNull(reader).bytes();
        end();
        ctx.fireChannelRead(hello);
        ctx.pipeline().remove(this);
    }

    @Override
    public void giveWay() {
        gate.gaveWay(Objects.requireNonNull(context).channel());
    }

    /** After this its bytes are another's, or gone. */
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
                .schedule(() -> over.trySuccess(null), MOST.toMillis(), TimeUnit.MILLISECONDS);
        handshake.addListener(done -> {
            timer.cancel(false);
            over.trySuccess(null);
        });
        return over;
    }
}

package dev.culvert.edge.listen;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Counts a TLS handshake from the first byte on, since silence costs nothing, and for a second at most: peers that stall
 * hold up nobody. First in its pipeline.
 */
final class HandshakeSlot extends ChannelInboundHandlerAdapter {
    /** Longer than a handshake over half the world; who is slower has had its work done by then. */
    static final Duration MOST = Duration.ofSeconds(1);

    private final HandshakeGate gate;
    private final Future<?> handshake;

    /** @param handshake done when the handshake is over */
    HandshakeSlot(HandshakeGate gate, Future<?> handshake) {
        this.gate = gate;
        this.handshake = handshake;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (gate.begin(ctx.channel().parent(), over(ctx.channel()))) {
            ctx.fireChannelRead(message);
            ctx.pipeline().remove(this);
        } else {
            ReferenceCountUtil.release(message);
            ctx.close();
        }
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

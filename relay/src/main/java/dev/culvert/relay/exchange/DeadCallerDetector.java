package dev.culvert.relay.exchange;

import dev.culvert.relay.quota.MemoryBudget;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.ReferenceCountUtil;

/**
 * The first handler of a caller's connection. It closes the connection when bytes arrive although reading is
 * off, because the caller is gone. Netty's epoll transport then reads the socket to its end, however slow the
 * receiver is, and the end of many callers at once would need more memory than there is. After a reset those
 * bytes are worthless. After a FIN they may be the rest of a request, and pass while the memory budget is not
 * spent.
 */
public final class DeadCallerDetector extends ChannelInboundHandlerAdapter {
    /** The TCP states as Linux numbers them (include/net/tcp_states.h). */
    private static final int CLOSED = 7;
    private static final int CLOSE_WAIT = 8;

    private final MemoryBudget memory;
    private boolean closed;

    public DeadCallerDetector(MemoryBudget memory) {
        this.memory = memory;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!closed && !ctx.channel().config().isAutoRead() && isGone(ctx)) {
            closed = true;
            ctx.close();
        }
        if (closed) {
            ReferenceCountUtil.release(message);
        } else {
            ctx.fireChannelRead(message);
        }
    }

    private boolean isGone(ChannelHandlerContext ctx) {
        if (!(ctx.channel() instanceof EpollSocketChannel socket)) {
            return false; // other transports do not read while reading is off
        }
        int state = socket.tcpInfo().state();
        return state == CLOSED || (state == CLOSE_WAIT && memory.isSpent());
    }
}

package dev.culvert.relay.tls;

import dev.culvert.http.net.HandlerNames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a caller's close_notify from the TLS engine while a request is answered. It ends the caller's
 * direction only (RFC 8446 §6.1), but BoringSSL's engine would end both, and the caller would receive no
 * answer. Stands in front of the TLS handler, where it sees records and not what they hold: in TLS 1.3 an
 * alert looks like data of a few octets. So a record that may be one is kept only if it is the last that
 * arrived, while no octet of a request is awaited. It passes when more follows, or when all is answered.
 *
 * <p>Keeps one record of at most {@value #MAX_ALERT} octets. Confined to the event loop of its connection.
 */
public final class CloseNotifyHold extends ChannelInboundHandlerAdapter {
    private static final int HEADER = 5;
    private static final int LENGTH_AT = 3;
    private static final int ALERT = 21;
    private static final int APPLICATION_DATA = 23;
    /** Of TLS 1.3: level, description, the type of the content, and the tag (RFC 8446 §5.2). */
    private static final int ALERT_OF_13 = 2 + 1 + 16;
    /** The octets with which Java's TLS pads alerts. */
    private static final int PADDING = 16;
    /** Of TLS 1.2, with the largest nonce and tag of its ciphers. */
    private static final int MAX_ALERT = 64;

    private BooleanSupplier answering = () -> false;
    private boolean inTurn;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf held;
    /** Octets of the present record's header that arrived, and what they say. */
    private int headerBytes;
    private int type;
    private int length;
    /** Octets of the present record that have not arrived. */
    private int left;
    /** Where the record begins that is the last one of a read and may be an alert; -1: none. */
    private int candidate;
    private boolean passed;

    /**
     * Arms the hold of a connection; returns null if it has none.
     *
     * @param inTurn whether requests are answered one after the other, so that a small one may wait, too:
     *     then padded alerts are kept. Over HTTP/2 a request may be as small as those
     * @param answering whether a request is answered, and no more octets of it, or of a frame, are awaited
     */
    public static @Nullable CloseNotifyHold of(ChannelPipeline pipeline, boolean inTurn,
            BooleanSupplier answering) {
        if (pipeline.get(HandlerNames.CLOSE_NOTIFY) instanceof CloseNotifyHold hold) {
            hold.inTurn = inTurn;
            hold.answering = answering;
            return hold;
        }
        return null;
    }

    /** Removes the hold of a connection that carries no HTTP any more. */
    public static void remove(ChannelPipeline pipeline) {
        if (pipeline.get(HandlerNames.CLOSE_NOTIFY) != null) {
            pipeline.remove(HandlerNames.CLOSE_NOTIFY);
        }
    }

    /**
     * Lets the record pass when what was written is with the kernel: all requests are answered. If it is a
     * close_notify, {@code SslCloseCompletionEvent} follows.
     */
    public void answered() {
        ChannelHandlerContext ctx = context;
        if (held != null && ctx != null) {
            ctx.channel().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(flushed -> {
                if (!answering.getAsBoolean()) {
                    channelReadComplete(ctx);
                }
            });
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        letPass(ctx);
        if (!(message instanceof ByteBuf in)) {
            ctx.fireChannelRead(message);
            return;
        }
        scan(in);
        if (candidate < 0) {
            passed = true;
            ctx.fireChannelRead(in);
            return;
        }
        held = in.retainedSlice(candidate, in.writerIndex() - candidate);
        if (candidate > in.readerIndex()) {
            passed = true;
            ctx.fireChannelRead(in.writerIndex(candidate));
        } else {
            in.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (passed) {
            passed = false;
            ctx.fireChannelReadComplete();
        }
        if (held != null && !isKept(held)) {
            letPass(ctx);
            passed = false;
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
        letPass(ctx);
    }

    private boolean isKept(ByteBuf record) {
        boolean padded = record.readableBytes() == HEADER + ALERT_OF_13 + PADDING;
        return (inTurn || !padded) && answering.getAsBoolean();
    }

    private void letPass(ChannelHandlerContext ctx) {
        ByteBuf record = held;
        if (record != null) {
            held = null;
            passed = true;
            ctx.fireChannelRead(record);
        }
    }

    private void drop() {
        if (held != null) {
            held.release();
            held = null;
        }
    }

    /** Follows the records, whose headers are the only octets that are looked at. */
    private void scan(ByteBuf in) {
        candidate = -1;
        int at = in.readerIndex();
        int end = in.writerIndex();
        int begun = headerBytes == 0 && left == 0 ? at : -1;
        while (at < end) {
            if (left > 0) {
                int some = Math.min(left, end - at);
                at += some;
                left -= some;
            } else {
                begun = headerBytes == 0 ? at : begun;
                header(in.getUnsignedByte(at++));
            }
        }
        boolean whole = left == 0 && headerBytes == 0;
        if (whole && begun >= 0 && end - begun == HEADER + length && mayBeAlert()) {
            candidate = begun;
        }
    }

    private void header(int octet) {
        switch (headerBytes++) {
            case 0 -> type = octet;
            case LENGTH_AT -> length = octet << 8;
            case HEADER - 1 -> {
                length |= octet;
                left = length;
                headerBytes = 0;
            }
            default -> {
                // the version says nothing (RFC 8446 §5.1)
            }
        }
    }

    private boolean mayBeAlert() {
        return type == ALERT
                ? length <= MAX_ALERT - HEADER
                : type == APPLICATION_DATA
                        && (length == ALERT_OF_13 || length == ALERT_OF_13 + PADDING);
    }
}

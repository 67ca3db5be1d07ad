package dev.culvert.relay;

import dev.culvert.protocol.fields.TableSizeUpdates;
import dev.culvert.relay.listen.Deadline;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the head blocks of a connection, in front of Netty's HTTP/2 handler, whose frame reader can't be
 * replaced: their dynamic table size updates, and the time in which a block arrives. Finds the blocks by the
 * frames' heads (RFC 9113 §4.1) and skips the rest. Too many updates are a connection error
 * COMPRESSION_ERROR, a slow block is ENHANCE_YOUR_CALM, and what follows is dropped.
 */
public final class HeadBlockGuard extends ChannelInboundHandlerAdapter {
    private static final int PRIORITY_BYTES = 5;
    private static final int PROMISED_BYTES = 4;

    private final TableSizeUpdates updates = new TableSizeUpdates();
    /** Bytes of the preface that have not arrived. */
    private int preface;
    /** Bytes of the present frame's head that have arrived, and the head without the stream's number. */
    private int headBytes;
    private long head;
    /** Bytes of the present frame's payload that have not arrived: before the block, of it, and behind it. */
    private int before;
    private int block;
    private int behind;
    private boolean padded;
    private boolean failed;
    /** The maximum time from the first byte of a HEADERS frame to the end of the block; null: no maximum. */
    private final @Nullable Duration maxTime;
    private @Nullable Deadline deadline;
    /** The number of blocks that have begun, and of the last one that is whole. */
    private long begun;
    private long whole;
    /** The number of the block that the deadline is for. */
    private long timed;
    /** Whether the block ends with the present frame. */
    private boolean last;

    private HeadBlockGuard(int preface, @Nullable Duration maxTime) {
        this.preface = preface;
        this.maxTime = maxTime;
    }

    /** A guard of the responses of an upstream, which have a deadline of their own. */
    public static HeadBlockGuard ofUpstream() {
        return new HeadBlockGuard(0, null);
    }

    /** A guard of a caller's requests, behind the preface of the connection. */
    public static HeadBlockGuard ofCaller(Duration maxTime) {
        return new HeadBlockGuard(Http2CodecUtil.connectionPrefaceBuf().readableBytes(), maxTime);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        deadline = maxTime == null ? null : new Deadline(ctx.channel().eventLoop());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        close();
        ctx.fireChannelInactive();
    }

    private void close() {
        if (deadline != null) {
            deadline.close();
            deadline = null;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (failed) {
            ReferenceCountUtil.release(message);
        } else if (message instanceof ByteBuf bytes && !accepts(bytes)) {
            bytes.release();
            fail(ctx, Http2Error.COMPRESSION_ERROR, "too many table size updates in a head");
        } else {
            watch(ctx);
            ctx.fireChannelRead(message);
        }
    }

    /** Sets the deadline of a block that this read has not completed. */
    private void watch(ChannelHandlerContext ctx) {
        if (deadline == null || maxTime == null || timed == begun && whole < begun) {
            return;
        }
        timed = begun;
        if (whole < begun) {
            deadline.set(maxTime,
                    () -> fail(ctx, Http2Error.ENHANCE_YOUR_CALM, "a head did not arrive in time"));
        } else {
            deadline.clear();
        }
    }

    private void fail(ChannelHandlerContext ctx, Http2Error error, String reason) {
        failed = true;
        ctx.fireExceptionCaught(Http2Exception.connectionError(error, reason));
    }

    private boolean accepts(ByteBuf bytes) {
        int end = bytes.writerIndex();
        int at = bytes.readerIndex() + take(bytes.readableBytes(), preface);
        preface -= at - bytes.readerIndex();
        while (at < end) {
            if (headBytes < Http2CodecUtil.FRAME_HEADER_LENGTH) {
                readHead(bytes.getByte(at++));
            } else if (before > 0) {
                readBefore(bytes.getByte(at++));
            } else if (block > 0) {
                int part = take(end - at, block);
                if (!updates.isOver() && !updates.read(bytes, at, at + part)) {
                    return false;
                }
                block -= part;
                at += part;
            } else {
                int part = take(end - at, behind);
                behind -= part;
                at += part;
            }
            if (headBytes == Http2CodecUtil.FRAME_HEADER_LENGTH && before + block + behind == 0) {
                headBytes = 0;
                if (last) {
                    last = false;
                    whole = begun;
                }
            }
        }
        return true;
    }

    private static int take(int there, int wanted) {
        return Math.min(there, wanted);
    }

    private void readHead(byte next) {
        headBytes++;
        if (headBytes <= 5) { // length, type and flags
            head = headBytes == 1 ? next & 0xff : head << 8 | next & 0xff;
        }
        if (headBytes == Http2CodecUtil.FRAME_HEADER_LENGTH) {
            frame((int) (head >>> 16), (byte) (head >>> 8), new Http2Flags((short) (head & 0xff)));
        }
    }

    private void frame(int length, byte type, Http2Flags flags) {
        before = 0;
        padded = false;
        switch (type) {
            case Http2FrameTypes.HEADERS -> {
                begun++;
                last = flags.endOfHeaders();
                begin(length, flags, flags.priorityPresent() ? PRIORITY_BYTES : 0);
            }
            case Http2FrameTypes.PUSH_PROMISE -> begin(length, flags, PROMISED_BYTES);
            case Http2FrameTypes.CONTINUATION -> {
                last = flags.endOfHeaders();
                block = length;
            }
            default -> behind = length;
        }
    }

    private void begin(int length, Http2Flags flags, int fields) {
        updates.begin();
        padded = flags.paddingPresent();
        before = Math.min(length, fields + (padded ? 1 : 0));
        block = length - before;
    }

    /** Reads what precedes the block: the length of the padding first, if there is padding. */
    private void readBefore(byte next) {
        before--;
        if (padded) {
            padded = false;
            behind = Math.min(block, next & 0xff);
            block -= behind;
        }
    }
}

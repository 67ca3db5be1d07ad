package dev.culvert.relay;

import dev.culvert.protocol.fields.TableSizeUpdates;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.ReferenceCountUtil;

/**
 * Bounds the dynamic table size updates in the head blocks of a connection, in front of Netty's HTTP/2
 * handler, which accepts any number and whose frame reader can't be replaced. Finds the blocks by the frames'
 * heads (RFC 9113 §4.1) and skips the rest. Too many updates are a connection error COMPRESSION_ERROR, and
 * what follows is dropped.
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

    /** @param server whether the peer begins with a preface */
    public HeadBlockGuard(boolean server) {
        preface = server ? Http2CodecUtil.connectionPrefaceBuf().readableBytes() : 0;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (failed) {
            ReferenceCountUtil.release(message);
        } else if (message instanceof ByteBuf bytes && !accepts(bytes)) {
            failed = true;
            bytes.release();
            ctx.fireExceptionCaught(Http2Exception.connectionError(Http2Error.COMPRESSION_ERROR,
                    "too many table size updates in a head"));
        } else {
            ctx.fireChannelRead(message);
        }
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
            case Http2FrameTypes.HEADERS ->
                begin(length, flags, flags.priorityPresent() ? PRIORITY_BYTES : 0);
            case Http2FrameTypes.PUSH_PROMISE -> begin(length, flags, PROMISED_BYTES);
            case Http2FrameTypes.CONTINUATION -> block = length;
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

package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;

/** Heads of a peer that follows no rule but HPACK's. */
final class RawHeads {
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final SessionPair pair;

    RawHeads(SessionPair pair) {
        this.pair = pair;
    }

    void toClient(int id, int flags, Http2Headers head) {
        handle(pair.client, id, flags, head);
    }

    void toServer(int id, int flags, Http2Headers head) {
        handle(pair.server, id, flags, head);
    }

    private void handle(Side side, int id, int flags, Http2Headers head) {
        side.session
                .handle(new Frame.Head(id, flags | FrameCodec.HEAD_LAST, StreamKind.HTTP, HeadOptions.NONE,
                        block(head)), pair.nowNanos);
        side.drainEvents();
    }

    /** Returns a buffer the caller owns with an encoded head. */
    ByteBuf block(Http2Headers head) {
        ByteBuf block = pair.allocator.heapBuffer();
        try {
            encoder.encodeHeaders(1, head, block);
        } catch (Http2Exception e) {
            throw new AssertionError(e);
        }
        return block;
    }

    /** A frame of a head with {@code bytes} zeros. */
    static Frame.Head part(SessionPair pair, int id, int flags, int bytes) {
        return new Frame.Head(id, flags, StreamKind.HTTP, HeadOptions.NONE,
                pair.allocator.heapBuffer().writeZero(bytes));
    }

    /** The frames that a side sends from now on; their buffers are not to be read. */
    static List<Frame> frames(Side side) {
        List<Frame> frames = new ArrayList<>();
        side.tap = batch -> decode(batch, frames);
        return frames;
    }

    /** Adds the frames of a batch, whose buffers are not to be read. Borrows {@code batch}. */
    static void decode(ByteBuf batch, List<Frame> frames) {
        for (ByteBuf in = batch.duplicate(); in.isReadable();) {
            Frame frame = FrameCodec.decode(in);
            Frame.release(frame);
            frames.add(frame);
        }
    }
}

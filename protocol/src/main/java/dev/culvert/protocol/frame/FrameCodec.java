package dev.culvert.protocol.frame;

import dev.culvert.protocol.body.BodyPart;
import dev.culvert.protocol.frame.Frame.Announce;
import dev.culvert.protocol.frame.Frame.Data;
import dev.culvert.protocol.frame.Frame.GoAway;
import dev.culvert.protocol.frame.Frame.Grant;
import dev.culvert.protocol.frame.Frame.Head;
import dev.culvert.protocol.frame.Frame.Leave;
import dev.culvert.protocol.frame.Frame.OpeningHello;
import dev.culvert.protocol.frame.Frame.Ping;
import dev.culvert.protocol.frame.Frame.Ready;
import dev.culvert.protocol.frame.Frame.ReadyAck;
import dev.culvert.protocol.frame.Frame.Reset;
import dev.culvert.protocol.frame.Frame.Skipped;
import dev.culvert.protocol.frame.Frame.Wait;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/** Encodes and decodes frames (docs/protocol.md §2, §3). Stateless; throws only {@link ProtocolException}. */
public final class FrameCodec {
    /** The size of a frame header in bytes. */
    public static final int HEADER_BYTES = 8;
    /** The maximum payload in bytes: a frame has at most 16 KiB. */
    public static final int MAX_PAYLOAD = (16 << 10) - HEADER_BYTES;
    /** The maximum batch in bytes: one WebSocket message with a 16-bit length. */
    public static final int MAX_BATCH = 65_535;
    /** The maximum detail of a reset or go-away in bytes. */
    public static final int MAX_DETAIL = 200;

    /** The maximum certificate of an AUTH in bytes of DER. */
    public static final int MAX_CERTIFICATE = 4096;
    /** The maximum proof of an AUTH in bytes. */
    public static final int MAX_PROOF = 512;

    /** Flag of HEAD and DATA: ends the sender's half. */
    public static final int END = 0x01;
    /** Flag of HEAD: the last frame of this head. */
    public static final int HEAD_LAST = 0x02;
    /** Flag of HEAD: opens the stream. */
    public static final int HEAD_OPENS = 0x04;
    /** Flag of HEAD: trailers. */
    public static final int HEAD_TRAILERS = 0x08;
    /** Flag of HEAD: continues the head of the previous frame. */
    public static final int HEAD_MORE = 0x10;

    private static final int HELLO = 0x01;
    private static final int READY = 0x02;
    private static final int HEAD = 0x03;
    private static final int DATA = 0x04;
    private static final int GRANT = 0x05;
    private static final int RESET = 0x06;
    private static final int PING = 0x07;
    private static final int GOAWAY = 0x08;
    private static final int AUTH = 0x09;
    private static final int ANNOUNCE = 0x0a;
    private static final int WAIT = 0x0b;
    private static final int LEAVE = 0x0c;
    private static final int OPTIONAL = 0x80;

    private FrameCodec() {}

    /**
     * Reads one frame and advances {@code in} past it. Borrows {@code in} for the call; a frame with a buffer
     * holds a retained slice of it, or a copy of a small one.
     */
    public static Frame decode(ByteBuf in) {
        if (in.readableBytes() < HEADER_BYTES) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE, "a frame header is cut off");
        }
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int length = in.readUnsignedShort();
        int streamId = in.readInt();
        if (length > MAX_PAYLOAD || length > in.readableBytes()) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE,
                    "a frame of " + length + " bytes does not fit");
        }
        if (streamId < 0) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "the high bit of a stream id is set");
        }
        if (type == DATA) {
            return data(streamId, flags, BodyPart.read(in, length));
        }
        int end = in.readerIndex() + length;
        int limit = in.writerIndex();
        in.writerIndex(end); // prevents reads beyond the frame
        try {
            return decodePayload(type, flags, streamId, in);
        } catch (IndexOutOfBoundsException e) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE, "a frame is shorter than its type needs");
        } finally {
            in.writerIndex(limit).readerIndex(end);
        }
    }

    private static Frame decodePayload(int type, int flags, int streamId, ByteBuf in) {
        return switch (type) {
            case HELLO -> new OpeningHello(OpeningFields.readHello(onSession(streamId, in)));
            case READY -> ready(flags, onSession(streamId, in));
            case HEAD -> head(onStream(streamId), flags, in);
            case GRANT -> grant(streamId, sized(in, 4).readInt());
            case RESET ->
                new Reset(onStream(streamId), ErrorCode.of(in.readUnsignedShort()), in.readUnsignedByte(),
                        in.readUnsignedByte(), detail(in));
            case PING -> new Ping(sized(onSession(streamId, in), 8).readLong(), (flags & END) != 0);
            case GOAWAY -> goAway(onSession(streamId, in));
            case AUTH -> AuthFields.read(onSession(streamId, in));
            case ANNOUNCE -> announce(flags, onSession(streamId, in));
            case WAIT -> new Wait(OpeningFields.readReady(onSession(streamId, in)));
            case LEAVE -> {
                sized(onSession(streamId, in), 0);
                yield new Leave();
            }
            default -> skipped(type);
        };
    }

    private static Frame ready(int flags, ByteBuf in) {
        if ((flags & END) == 0) {
            return OpeningFields.readReady(in);
        }
        sized(in, 0);
        return new ReadyAck();
    }

    private static Frame data(int streamId, int flags, ByteBuf body) {
        boolean last = (flags & END) != 0;
        if (streamId == 0 || (!last && !body.isReadable())) {
            body.release();
            throw ProtocolException.session(ErrorCode.PROTOCOL, "DATA without stream or bytes");
        }
        return new Data(streamId, body, last);
    }

    private static Frame head(int streamId, int flags, ByteBuf in) {
        if ((flags & HEAD_MORE) != 0) {
            return new Head(streamId, flags, StreamKind.HTTP, HeadOptions.NONE,
                    in.readRetainedSlice(in.readableBytes()));
        }
        StreamKind kind = StreamKind.of(in.readUnsignedByte());
        HeadOptions options = HeadOptions.decode(in);
        return new Head(streamId, flags, kind, options,
                in.readRetainedSlice(in.readableBytes()));
    }

    private static Frame grant(int streamId, int bytes) {
        if (bytes <= 0) {
            throw ProtocolException.session(ErrorCode.FLOW_CONTROL, "a grant out of range");
        }
        return new Grant(streamId, bytes);
    }

    private static Frame goAway(ByteBuf in) {
        ErrorCode code = ErrorCode.of(in.readUnsignedShort());
        int lastAccepted = in.readInt();
        if (lastAccepted < 0) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "the high bit of a stream id is set");
        }
        return new GoAway(code, lastAccepted, Math.max(0, in.readInt()), detail(in));
    }

    private static Frame announce(int flags, ByteBuf in) {
        boolean last = (flags & END) != 0;
        if (!last && !in.isReadable()) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "ANNOUNCE without bytes");
        }
        byte[] part = new byte[in.readableBytes()];
        in.readBytes(part);
        return new Announce(part, last);
    }

    private static Frame skipped(int type) {
        if (type < OPTIONAL) {
            throw ProtocolException.session(ErrorCode.UNSUPPORTED, "frame type " + type);
        }
        return new Skipped(type);
    }

    private static ByteBuf sized(ByteBuf in, int bytes) {
        if (in.readableBytes() != bytes) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE,
                    "a payload of " + in.readableBytes() + " bytes, not " + bytes);
        }
        return in;
    }

    private static int onStream(int streamId) {
        if (streamId == 0) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "a frame needs a stream id");
        }
        return streamId;
    }

    private static ByteBuf onSession(int streamId, ByteBuf in) {
        if (streamId != 0) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "a frame may not have a stream id");
        }
        return in;
    }

    static String detail(ByteBuf in) {
        if (in.readableBytes() > MAX_DETAIL) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE,
                    "a detail is longer than " + MAX_DETAIL + " bytes");
        }
        return in.readString(in.readableBytes(), StandardCharsets.UTF_8);
    }

    /**
     * Appends a frame of any kind. Borrows {@code out} for the call; takes ownership of the frame's buffer.
     */
    public static void encode(Frame frame, ByteBuf out) {
        switch (frame) {
            case Head f -> {
                StreamKind kind = f.kind();
                encodeHead(f.streamId(), f.flags(), kind == null ? StreamKind.HTTP : kind, f.options(),
                        f.block(), f.block().readableBytes(), out);
                f.block().release();
            }
            case Data f -> {
                dataHeader(f.streamId(), f.body().readableBytes(), f.last(), out);
                out.writeBytes(f.body());
                f.body().release();
            }
            case OpeningHello f -> {
                int at = begin(out, HELLO, 0, 0);
                OpeningFields.writeHello(f.hello(), out);
                finish(out, at);
            }
            case Ready f -> {
                int at = begin(out, READY, 0, 0);
                OpeningFields.writeReady(f, out);
                finish(out, at);
            }
            case ReadyAck f -> finish(out, begin(out, READY, END, 0));
            case Wait f -> {
                int at = begin(out, WAIT, 0, 0);
                OpeningFields.writeReady(f.owner(), out);
                finish(out, at);
            }
            case Leave f -> finish(out, begin(out, LEAVE, 0, 0));
            case Grant f -> {
                int at = begin(out, GRANT, 0, f.streamId());
                out.writeInt(f.bytes());
                finish(out, at);
            }
            case Reset f -> encodeReset(f, out);
            case Ping f -> {
                int at = begin(out, PING, f.ack() ? END : 0, 0);
                out.writeLong(f.opaque());
                finish(out, at);
            }
            case GoAway f -> encodeGoAway(f, out);
            case Frame.Auth f -> {
                int at = begin(out, AUTH, 0, 0);
                AuthFields.write(f, out);
                finish(out, at);
            }
            case Frame.AuthAnswer f -> {
                int at = begin(out, AUTH, 0, 0);
                AuthFields.write(f, out);
                finish(out, at);
            }
            case Announce f -> {
                int at = begin(out, ANNOUNCE, f.last() ? END : 0, 0);
                out.writeBytes(f.part());
                finish(out, at);
            }
            case Skipped f -> finish(out, begin(out, f.type(), 0, 0));
        }
    }

    private static void encodeReset(Reset f, ByteBuf out) {
        int at = begin(out, RESET, 0, f.streamId());
        out.writeShort(f.code().number()).writeByte(f.cause()).writeByte(f.hop());
        writeDetail(f.detail(), out);
        finish(out, at);
    }

    private static void encodeGoAway(GoAway f, ByteBuf out) {
        int at = begin(out, GOAWAY, 0, 0);
        out.writeShort(f.code().number()).writeInt(f.lastAccepted()).writeInt(f.delayMillis());
        writeDetail(f.detail(), out);
        finish(out, at);
    }

    /** Appends the header of a DATA frame. The caller appends its {@code bytes} next. */
    public static void dataHeader(int streamId, int bytes, boolean last, ByteBuf out) {
        out.writeInt(DATA << 24 | (last ? END : 0) << 16 | bytes).writeInt(streamId);
    }

    /**
     * Appends a HEAD frame with {@code bytes} of the block and advances the block past them. Without {@link
     * #HEAD_MORE}, kind and options precede the block. Borrows both buffers for the call.
     */
    public static void encodeHead(int streamId, int flags, StreamKind kind, HeadOptions options,
            ByteBuf block,
            int bytes, ByteBuf out) {
        int at = begin(out, HEAD, flags, streamId);
        if ((flags & HEAD_MORE) == 0) {
            out.writeByte(kind.number());
            options.encode(out);
        }
        if (block.hasArray()) {
            out.writeBytes(block.array(), block.arrayOffset() + block.readerIndex(), bytes);
            block.skipBytes(bytes);
        } else {
            out.writeBytes(block, bytes);
        }
        finish(out, at);
    }

    private static int begin(ByteBuf out, int type, int flags, int streamId) {
        int at = out.writerIndex();
        out.writeInt(type << 24 | flags << 16).writeInt(streamId);
        return at;
    }

    private static void finish(ByteBuf out, int at) {
        out.setShort(at + 2, out.writerIndex() - at - HEADER_BYTES);
    }

    private static void writeDetail(String detail, ByteBuf out) {
        out.writeCharSequence(fitting(detail), StandardCharsets.UTF_8);
    }

    /** Truncates a detail to {@link #MAX_DETAIL} bytes. */
    static String fitting(String detail) {
        String fitting = detail;
        while (ByteBufUtil.utf8Bytes(fitting) > MAX_DETAIL) {
            fitting = fitting.substring(0, Math.min(fitting.length() - 1, MAX_DETAIL));
        }
        return fitting;
    }
}

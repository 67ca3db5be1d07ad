package dev.culvert.protocol.frame;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Options that are sent with a head (docs/protocol.md §5).
 *
 * @param window the sender's receive window for this stream in bytes, or 0 for the value in its HELLO
 * @param deadlineMillis the time for which the caller still waits, or 0 for no deadline
 * @param delivery the webhook delivery of this request, or null
 * @param times the time spent so far, or null
 * @param spelling how HTTP/1.1 wrote the names of the head, at most 255 bytes of §5.2, or null
 * @param supported false if a received list had a required option that this version does not know
 */
public record HeadOptions(int window, int deadlineMillis, @Nullable Delivery delivery, @Nullable Times times,
        @Nullable AsciiString spelling, boolean supported) {
    /** No options. */
    public static final HeadOptions NONE = new HeadOptions(0, 0, null, null, null, true);

    /** The maximum stream window: 16 MiB (docs/protocol.md §6). */
    static final int MAX_WINDOW = 16 << 20;

    private static final int WINDOW = 0x01;
    private static final int DEADLINE = 0x02;
    private static final int DELIVERY = 0x03;
    private static final int TIMES = 0x84;
    private static final int SPELLING = 0x85;

    /** A webhook delivery: its 128-bit id and the number of the attempt, starting at 1. */
    public record Delivery(long idHigh, long idLow, int attempt) {}

    /** Microseconds spent in the client, the router and the upstream. */
    public record Times(int clientMicros, int routerMicros, int upstreamMicros) {}

    /** Options without a spelling. */
    public HeadOptions(int window, int deadlineMillis, @Nullable Delivery delivery, @Nullable Times times,
            boolean supported) {
        this(window, deadlineMillis, delivery, times, null, supported);
    }

    /** Options with only a receive window, in bytes. */
    public static HeadOptions window(int bytes) {
        return new HeadOptions(bytes, 0, null, null, true);
    }

    /** Options with only the time spent. */
    public static HeadOptions times(Times spent) {
        return new HeadOptions(0, 0, null, spent, true);
    }

    /** These options with a spelling. */
    public HeadOptions withSpelling(AsciiString note) {
        return new HeadOptions(window, deadlineMillis, delivery, times, note, supported);
    }

    void encode(ByteBuf out) {
        int lengthAt = out.writerIndex();
        out.writeShort(0);
        if (window != 0) {
            out.writeByte(WINDOW).writeByte(4).writeInt(window);
        }
        if (deadlineMillis != 0) {
            out.writeByte(DEADLINE).writeByte(4).writeInt(deadlineMillis);
        }
        if (delivery != null) {
            out.writeByte(DELIVERY)
                    .writeByte(18)
                    .writeLong(delivery.idHigh)
                    .writeLong(delivery.idLow)
                    .writeShort(delivery.attempt);
        }
        if (times != null) {
            out.writeByte(TIMES)
                    .writeByte(12)
                    .writeInt(times.clientMicros)
                    .writeInt(times.routerMicros)
                    .writeInt(times.upstreamMicros);
        }
        if (spelling != null) {
            out.writeByte(SPELLING).writeByte(spelling.length());
            out.writeBytes(spelling.array(), spelling.arrayOffset(), spelling.length());
        }
        out.setShort(lengthAt, out.writerIndex() - lengthAt - 2);
    }

    /**
     * Reads the options that precede a block. Borrows {@code in} for the call. Throws a session error if they
     * exceed the frame.
     */
    static HeadOptions decode(ByteBuf in) {
        int length = in.readableBytes() < 2 ? -1 : in.readUnsignedShort();
        if (length < 0 || length > in.readableBytes()) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE, "head options longer than their frame");
        }
        if (length == 0) {
            return NONE;
        }
        int end = in.readerIndex() + length;
        int window = 0;
        int deadline = 0;
        Delivery delivery = null;
        Times times = null;
        AsciiString spelling = null;
        boolean supported = true;
        while (in.readerIndex() < end) {
            int tag = in.readUnsignedByte();
            int size = in.readerIndex() < end ? in.readUnsignedByte() : -1;
            if (size < 0 || size > end - in.readerIndex()) {
                throw ProtocolException.session(ErrorCode.FRAME_SIZE, "head option longer than its list");
            }
            int next = in.readerIndex() + size;
            switch (tag) {
                case WINDOW -> window = checkedWindow(sized(in, size, 4).readInt());
                case DEADLINE -> deadline = Math.max(0, sized(in, size, 4).readInt());
                case DELIVERY -> delivery = new Delivery(sized(in, size, 18).readLong(), in.readLong(),
                        in.readUnsignedShort());
                case TIMES -> times = new Times(sized(in, size, 12).readInt(), in.readInt(), in.readInt());
                case SPELLING -> spelling = bytes(in, size);
                default -> supported &= tag >= 0x80;
            }
            in.readerIndex(next);
        }
        return new HeadOptions(window, deadline, delivery, times, spelling, supported);
    }

    private static AsciiString bytes(ByteBuf in, int size) {
        byte[] bytes = new byte[size];
        in.readBytes(bytes);
        return new AsciiString(bytes, false);
    }

    private static ByteBuf sized(ByteBuf in, int size, int expected) {
        if (size != expected) {
            throw ProtocolException.session(ErrorCode.PROTOCOL,
                    "head option of " + size + " bytes, not " + expected);
        }
        return in;
    }

    private static int checkedWindow(int bytes) {
        if (bytes <= 0 || bytes > MAX_WINDOW) {
            throw ProtocolException.session(ErrorCode.FLOW_CONTROL, "stream window out of range");
        }
        return bytes;
    }
}

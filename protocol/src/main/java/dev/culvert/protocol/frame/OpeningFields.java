package dev.culvert.protocol.frame;

import dev.culvert.protocol.frame.Frame.Ready;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.Hello.Nonce;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.function.IntPredicate;

/** The field lists of HELLO and READY (docs/protocol.md §4): {@code tag (8) | length (16) | value}. */
final class OpeningFields {
    private static final int VERSIONS = 1;
    private static final int CAPABILITIES = 2;
    private static final int INSTANCE = 3;
    private static final int CONNECTION = 4;
    private static final int LIMITS = 5;
    private static final int NONCE = 6;
    private static final int SOFTWARE = 7;
    private static final int PROOF = 8;
    private static final int STANDBY = 9;
    private static final int HELLO_REQUIRED = 0b1111_1110;

    private static final int SESSION = 1;
    private static final int GENERATION = 2;
    private static final int RUNTIME = 3;
    private static final int HOST = 4;
    private static final int READY_REQUIRED = 0b1_1110;

    private OpeningFields() {}

    static void writeHello(Hello hello, ByteBuf out) {
        Limits limits = hello.limits();
        Nonce nonce = hello.nonce();
        field(VERSIONS, 4, out).writeShort(hello.minVersion()).writeShort(hello.maxVersion());
        field(CAPABILITIES, 8, out).writeLong(hello.capabilities());
        field(INSTANCE, 16, out).writeLong(hello.instanceHigh()).writeLong(hello.instanceLow());
        field(CONNECTION, 2, out).writeByte(hello.connection()).writeByte(hello.takeOver() ? 1 : 0);
        field(LIMITS, 22, out).writeInt(limits.streams())
                .writeInt(limits.headBytes())
                .writeShort(limits.headFields())
                .writeInt(limits.hpackTableBytes())
                .writeInt(limits.streamWindow())
                .writeInt(limits.sessionWindow());
        field(NONCE, 32, out).writeLong(nonce.a())
                .writeLong(nonce.b())
                .writeLong(nonce.c())
                .writeLong(nonce.d());
        text(SOFTWARE, hello.software(), out);
        if (hello.waits()) {
            field(STANDBY, 2, out).writeShort(hello.standby());
        }
    }

    static Hello readHello(ByteBuf in) {
        HelloFields fields = new HelloFields();
        readFields(in, HELLO_REQUIRED, tag -> fields.read(tag, in));
        return fields.hello();
    }

    static void writeReady(Ready ready, ByteBuf out) {
        field(SESSION, 16, out).writeLong(ready.sessionHigh()).writeLong(ready.sessionLow());
        field(GENERATION, 8, out).writeLong(ready.generation());
        text(RUNTIME, ready.runtime(), out);
        text(HOST, ready.host(), out);
    }

    static Ready readReady(ByteBuf in) {
        ReadyFields fields = new ReadyFields();
        readFields(in, READY_REQUIRED, tag -> fields.read(tag, in));
        return fields.ready();
    }

    /**
     * Calls {@code reader} with each tag while {@code in} is limited to the tag's value. The reader returns
     * false for an unknown tag.
     */
    static void readFields(ByteBuf in, int required, IntPredicate reader) {
        int end = in.writerIndex();
        int seen = 0;
        while (in.readerIndex() < end) {
            int tag = in.readUnsignedByte();
            int length = in.readUnsignedShort();
            int next = in.readerIndex() + length;
            if (next > end) {
                throw ProtocolException.session(ErrorCode.FRAME_SIZE, "a field is longer than its frame");
            }
            in.writerIndex(next);
            boolean known = readValue(reader, tag);
            in.writerIndex(end);
            if (known && (in.readerIndex() != next || (seen & 1 << tag) != 0)) {
                throw ProtocolException.session(ErrorCode.PROTOCOL,
                        "field " + tag + " has a wrong length or stands twice");
            }
            if (!known && tag < 0x80) {
                throw ProtocolException.session(ErrorCode.UNSUPPORTED, "field " + tag);
            }
            seen |= known ? 1 << tag : 0;
            in.readerIndex(next);
        }
        if ((seen & required) != required) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "a required field is missing");
        }
    }

    private static boolean readValue(IntPredicate reader, int tag) {
        try {
            return reader.test(tag);
        } catch (IndexOutOfBoundsException e) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "field " + tag + " is too short");
        }
    }

    static ByteBuf field(int tag, int length, ByteBuf out) {
        return out.writeByte(tag).writeShort(length);
    }

    private static void text(int tag, String value, ByteBuf out) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        field(tag, bytes.length, out).writeBytes(bytes);
    }

    private static String rest(ByteBuf in, int max) {
        if (in.readableBytes() > max) {
            throw ProtocolException.session(ErrorCode.PROTOCOL,
                    "a text field is longer than " + max + " bytes");
        }
        return in.readString(in.readableBytes(), StandardCharsets.UTF_8);
    }

    /** The fields of a hello read so far. */
    private static final class HelloFields {
        private int min;
        private int max;
        private long capabilities;
        private long instanceHigh;
        private long instanceLow;
        private int connection;
        private boolean takeOver;
        private Limits limits = new Limits(0, 0, 0, 0, 1 << 10, 64 << 10);
        private Nonce nonce = new Nonce(0, 0, 0, 0);
        private String software = "";
        private int standby = Hello.NO_STANDBY;

        /** Reads the value of a tag; false when the tag is not known. */
        boolean read(int tag, ByteBuf in) {
            switch (tag) {
                case VERSIONS -> {
                    min = in.readUnsignedShort();
                    max = in.readUnsignedShort();
                }
                case CAPABILITIES -> capabilities = in.readLong();
                case INSTANCE -> {
                    instanceHigh = in.readLong();
                    instanceLow = in.readLong();
                }
                case CONNECTION -> {
                    connection = in.readUnsignedByte();
                    takeOver = in.readUnsignedByte() != 0;
                }
                case LIMITS -> limits = new Limits(saturated(in), saturated(in), in.readUnsignedShort(),
                        in.readInt(), in.readInt(), in.readInt());
                case NONCE -> nonce = new Nonce(in.readLong(), in.readLong(), in.readLong(), in.readLong());
                case SOFTWARE -> software = rest(in, Hello.MAX_SOFTWARE);
                case STANDBY -> standby = in.readUnsignedShort();
                case PROOF -> in.skipBytes(in.readableBytes());
                default -> {
                    return false;
                }
            }
            return true;
        }

        private static int saturated(ByteBuf in) {
            return (int) Math.min(in.readUnsignedInt(), Integer.MAX_VALUE);
        }

        Hello hello() {
            return new Hello(min, max, capabilities, instanceHigh, instanceLow, connection, takeOver, limits,
                    nonce, software, standby);
        }
    }

    /** The fields of READY read so far. */
    private static final class ReadyFields {
        private long sessionHigh;
        private long sessionLow;
        private long generation;
        private String runtime = "";
        private String host = "";

        /** Reads the value of a tag; false when the tag is not known. */
        boolean read(int tag, ByteBuf in) {
            switch (tag) {
                case SESSION -> {
                    sessionHigh = in.readLong();
                    sessionLow = in.readLong();
                }
                case GENERATION -> generation = in.readLong();
                case RUNTIME -> runtime = rest(in, 127);
                case HOST -> host = rest(in, 253);
                default -> {
                    return false;
                }
            }
            return true;
        }

        Ready ready() {
            return new Ready(sessionHigh, sessionLow, generation, runtime, host);
        }
    }
}

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
    }

    static Hello readHello(ByteBuf in) {
        var reading = new Object() {
            int min;
            int max;
            long capabilities;
            long high;
            long low;
            int connection;
            boolean takeOver;
            Limits limits = new Limits(0, 0, 0, 0, 1 << 10, 64 << 10);
            Nonce nonce = new Nonce(0, 0, 0, 0);
            String software = "";
        };
        readFields(in, HELLO_REQUIRED, tag -> {
            switch (tag) {
                case VERSIONS -> {
                    reading.min = in.readUnsignedShort();
                    reading.max = in.readUnsignedShort();
                }
                case CAPABILITIES -> reading.capabilities = in.readLong();
                case INSTANCE -> {
                    reading.high = in.readLong();
                    reading.low = in.readLong();
                }
                case CONNECTION -> {
                    reading.connection = in.readUnsignedByte();
                    reading.takeOver = in.readUnsignedByte() != 0;
                }
                case LIMITS -> reading.limits = new Limits(in.readInt(), in.readInt(), in.readUnsignedShort(),
                        in.readInt(), in.readInt(), in.readInt());
                case NONCE ->
                    reading.nonce = new Nonce(in.readLong(), in.readLong(), in.readLong(), in.readLong());
                case SOFTWARE -> reading.software = rest(in, 100);
                case PROOF -> in.skipBytes(in.readableBytes());
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new Hello(reading.min, reading.max, reading.capabilities, reading.high, reading.low,
                reading.connection,
                reading.takeOver, reading.limits, reading.nonce, reading.software);
    }

    static void writeReady(Ready ready, ByteBuf out) {
        field(SESSION, 16, out).writeLong(ready.sessionHigh()).writeLong(ready.sessionLow());
        field(GENERATION, 8, out).writeLong(ready.generation());
        text(RUNTIME, ready.runtime(), out);
        text(HOST, ready.host(), out);
    }

    static Ready readReady(ByteBuf in) {
        var reading = new Object() {
            long high;
            long low;
            long generation;
            String runtime = "";
            String host = "";
        };
        readFields(in, READY_REQUIRED, tag -> {
            switch (tag) {
                case SESSION -> {
                    reading.high = in.readLong();
                    reading.low = in.readLong();
                }
                case GENERATION -> reading.generation = in.readLong();
                case RUNTIME -> reading.runtime = rest(in, 127);
                case HOST -> reading.host = rest(in, 253);
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new Ready(reading.high, reading.low, reading.generation, reading.runtime, reading.host);
    }

    /** Calls {@code reader} with each tag, {@code in} holding just its value; false means that the tag is not known. */
    private static void readFields(ByteBuf in, int required, IntPredicate reader) {
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
            boolean known = reader.test(tag);
            in.writerIndex(end);
            if (known && (in.readerIndex() != next || (seen & 1 << tag) != 0)) {
                throw ProtocolException.session(ErrorCode.PROTOCOL,
                        "field " + tag + " is too long or stands twice");
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

    private static ByteBuf field(int tag, int length, ByteBuf out) {
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
}

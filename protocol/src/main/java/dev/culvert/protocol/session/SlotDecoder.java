package dev.culvert.protocol.session;

import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.ProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decodes heads by slots (docs/protocol.md §5.1). A name and a value are checked when they come, and not
 * again when a slot repeats them: in the next head they are the same objects.
 */
final class SlotDecoder {
    private static final Set<AsciiString> REQUEST_FIELDS = Set.of(AsciiString.cached(":method"),
            AsciiString.cached(":scheme"), AsciiString.cached(":authority"), AsciiString.cached(":path"),
            AsciiString.cached(":protocol"));
    private static final AsciiString STATUS = AsciiString.cached(":status");
    /** Room for fields that their receiver adds, and the most that is made before fields come. */
    private static final int MORE_FIELDS = 2;
    private static final int USUAL_FIELDS = 24;
    /** The maximum bytes of all names that are not fixed. They outlive their values. */
    private static final int MAX_OWN_NAMES = 16 << 10;
    /** The digits of a length have seven bits each. */
    private static final int MAX_LENGTH_BITS = 21;

    private final @Nullable AsciiString[] names = new AsciiString[HeadSlots.COUNT];
    private final @Nullable AsciiString[] values = new AsciiString[HeadSlots.COUNT];
    /** Of each kept value: whether a head may have it. Kept all the same, for the encoder believes so. */
    private final boolean[] valid = new boolean[HeadSlots.COUNT];
    private final int limit;
    private final int maxBytes;
    private final int maxFields;
    private int kept;
    private int ownNames;
    /** The fields of the last head. */
    private int lastFields;

    /** One head in the making. */
    private final class Head {
        private final Http2Headers fields = new HeadFields(Math.min(USUAL_FIELDS, lastFields + MORE_FIELDS));
        private long bytes;
        private boolean malformed;
        private boolean regular;
        private boolean request;
        private boolean response;

        void add(AsciiString name, AsciiString value, boolean isValid) {
            bytes += HeadSlots.cost(name, value);
            if (bytes > maxBytes || fields.size() > maxFields) {
                return; // it is refused when the block is read
            }
            malformed |= !isValid;
            if (name.charAt(0) == ':') {
                malformed |= regular || fields.contains(name);
                request |= !name.equals(STATUS);
                response |= name.equals(STATUS);
            } else {
                regular = true;
            }
            fields.add(name, value);
        }

        Http2Headers done(int streamId) {
            if (bytes > maxBytes) {
                throw ProtocolException.stream(streamId, ErrorCode.HEAD_TOO_LARGE, "the head is too large");
            }
            if (fields.size() > maxFields) {
                throw ProtocolException.stream(streamId, ErrorCode.HEAD_TOO_LARGE,
                        "the head has too many fields");
            }
            if (malformed || (request && response)) {
                throw ProtocolException.stream(streamId, ErrorCode.PROTOCOL, "the head is not valid");
            }
            lastFields = fields.size();
            return fields;
        }
    }

    /**
     * @param limit the size of all kept fields: names, values and 32 bytes for each
     * @param maxBytes the maximum decoded size of a head, counted in the same way
     */
    SlotDecoder(int limit, int maxBytes, int maxFields) {
        this.limit = limit;
        this.maxBytes = maxBytes;
        this.maxFields = maxFields;
        for (int i = 0; i < HeadSlots.fixed(); i++) {
            names[i] = HeadSlots.name(i);
        }
    }

    /**
     * Decodes a block. Borrows {@code block}. Throws a stream error for a head that is not valid or too
     * large: the slots are as the encoder believes. Throws a session error for a block that can't be read.
     */
    Http2Headers decode(int streamId, ByteBuf block) {
        var head = new Head();
        while (block.isReadable()) {
            int instruction = block.readUnsignedByte();
            if ((instruction & HeadSlots.KEPT) != 0) {
                int slot = instruction & ~HeadSlots.KEPT;
                head.add(name(slot), value(slot), valid[slot]);
                continue;
            }
            switch (instruction) {
                case HeadSlots.VALUE -> {
                    AsciiString name = name(slot(block));
                    AsciiString value = text(block);
                    head.add(name, value, isValue(name, value));
                }
                case HeadSlots.KEEP_VALUE -> {
                    int slot = slot(block);
                    keep(slot, name(slot), text(block), true);
                    head.add(name(slot), value(slot), valid[slot]);
                }
                case HeadSlots.FIELD -> {
                    AsciiString name = text(block);
                    AsciiString value = text(block);
                    head.add(known(name), value, isName(name) && isValue(name, value));
                }
                case HeadSlots.KEEP_FIELD -> {
                    int slot = slot(block);
                    AsciiString name = known(text(block));
                    if (slot < HeadSlots.fixed()) {
                        throw broken();
                    }
                    keep(slot, name, text(block), isName(name));
                    head.add(name, value(slot), valid[slot]);
                }
                case HeadSlots.FORGET -> forget(slot(block));
                default -> throw broken();
            }
        }
        return head.done(streamId);
    }

    private void keep(int slot, AsciiString name, AsciiString value, boolean named) {
        forget(slot);
        kept += HeadSlots.cost(name, value);
        AsciiString before = names[slot];
        if (slot >= HeadSlots.fixed() && !name.equals(before)) {
            ownNames += name.length() - (before == null ? 0 : before.length());
        }
        if (kept > limit || ownNames > MAX_OWN_NAMES) {
            throw broken();
        }
        names[slot] = name;
        values[slot] = value;
        valid[slot] = named && isValue(name, value);
    }

    private void forget(int slot) {
        AsciiString name = names[slot];
        AsciiString value = values[slot];
        if (name != null && value != null) {
            kept -= HeadSlots.cost(name, value);
            values[slot] = null;
        }
    }

    private AsciiString name(int slot) {
        AsciiString name = names[slot];
        if (name == null) {
            throw broken();
        }
        return name;
    }

    private AsciiString value(int slot) {
        AsciiString value = values[slot];
        if (value == null) {
            throw broken();
        }
        return value;
    }

    private static int slot(ByteBuf block) {
        int slot = block.isReadable() ? block.readUnsignedByte() : HeadSlots.COUNT;
        if (slot >= HeadSlots.COUNT) {
            throw broken();
        }
        return slot;
    }

    private static AsciiString text(ByteBuf block) {
        int length = 0;
        int digit = 0x80;
        for (int shift = 0; (digit & 0x80) != 0; shift += 7) {
            if (shift >= MAX_LENGTH_BITS || !block.isReadable()) {
                throw broken();
            }
            digit = block.readUnsignedByte();
            length |= (digit & 0x7f) << shift;
        }
        if (length > block.readableBytes()) {
            throw broken();
        }
        byte[] text = new byte[length];
        block.readBytes(text);
        return new AsciiString(text, false);
    }

    /** An empty name would have no first character. */
    private static AsciiString known(AsciiString name) {
        if (name.isEmpty()) {
            throw broken();
        }
        return name;
    }

    /** Whether a field may have the name (RFC 9113 §8.2, §8.2.2, §8.3). */
    private static boolean isName(AsciiString name) {
        if (name.isEmpty() || name.charAt(0) == ':') {
            return REQUEST_FIELDS.contains(name) || STATUS.equals(name);
        }
        return HttpHeaderValidationUtil.validateToken(name) == -1 && !hasUpperCase(name)
                && !HttpHeaderValidationUtil.isConnectionHeader(name, true);
    }

    private static boolean hasUpperCase(AsciiString name) {
        for (int i = 0; i < name.length(); i++) {
            if (AsciiString.isUpperCase(name.byteAt(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isValue(AsciiString name, AsciiString value) {
        boolean te = HttpHeaderNames.TE.contentEquals(name)
                && HttpHeaderValidationUtil.isTeNotTrailers(name, value);
        return HttpHeaderValidationUtil.validateValidHeaderValue(value) == -1 && !te;
    }

    private static ProtocolException broken() {
        return ProtocolException.session(ErrorCode.COMPRESSION, "a head can't be decompressed");
    }
}

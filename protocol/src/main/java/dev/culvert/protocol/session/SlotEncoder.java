package dev.culvert.protocol.session;

import dev.culvert.protocol.fields.HeadFields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Encodes heads by slots (docs/protocol.md §5.1). A field that the connection's earlier heads had costs one
 * byte and a comparison, which is of references where the reader of heads reuses its texts.
 */
final class SlotEncoder {
    /** Longer values are rarely the same in the next head. */
    private static final int MAX_KEPT = 1024;
    /** Longer names are rare. A slot keeps its name when its value is forgotten. */
    private static final int MAX_NAME = 64;
    /**
     * The maximum values that are forgotten for one field. So an instruction with all that precedes it is
     * never longer than its field by {@link HeadSlots#cost}, and a head that its receiver accepts is not too
     * long.
     */
    private static final int MAX_FORGOTTEN = 10;

    private final Set<AsciiString> neverKept;
    private final Map<AsciiString, Integer> ownNames = new HashMap<>();
    private final @Nullable AsciiString[] names = new AsciiString[HeadSlots.COUNT];
    private final @Nullable AsciiString[] values = new AsciiString[HeadSlots.COUNT];
    /** The number of the head that used the slot last. */
    private final int[] used = new int[HeadSlots.COUNT];
    private final int limit;
    private int kept;
    private int head;
    private int nextOwn = HeadSlots.fixed();
    private int nextForgotten;

    /**
     * @param neverKept the names of fields whose values are not kept: secrets, and what no other head has
     * @param limit the size of all kept fields: names, values and 32 bytes for each
     */
    SlotEncoder(Set<AsciiString> neverKept, int limit) {
        this.neverKept = neverKept;
        this.limit = limit;
        for (int i = 0; i < HeadSlots.fixed(); i++) {
            names[i] = HeadSlots.name(i);
        }
    }

    /** Appends the block of a head. */
    void encode(Http2Headers fields, ByteBuf out) {
        head++;
        if (fields instanceof HeadFields own) {
            for (int i = 0; i < own.size(); i++) {
                encode(own.name(i), own.value(i), out);
            }
            return;
        }
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            encode(AsciiString.of(field.getKey()), field.getValue(), out);
        }
    }

    private void encode(AsciiString name, CharSequence value, ByteBuf out) {
        Integer found = HeadSlots.byName().get(name);
        if (found == null) {
            found = ownNames.get(name);
        }
        if (found == null) {
            first(name, value, out);
            return;
        }
        int slot = found;
        AsciiString before = values[slot];
        if (before != null && before.contentEquals(value)) {
            out.writeByte(HeadSlots.KEPT | slot);
        } else if (used[slot] != head && keeps(slot, name, value, out)) {
            out.writeByte(HeadSlots.KEEP_VALUE).writeByte(slot);
            text(value, out);
        } else {
            out.writeByte(HeadSlots.VALUE).writeByte(slot);
            text(value, out);
        }
        used[slot] = head;
    }

    /** A name that has no slot. */
    private void first(AsciiString name, CharSequence value, ByteBuf out) {
        int slot = nextOwn;
        boolean free = name.length() <= MAX_NAME && used[slot] != head;
        if (free) {
            forget(slot, out);
        }
        if (free && keeps(slot, name, value, out)) {
            nextOwn = slot + 1 == HeadSlots.COUNT ? HeadSlots.fixed() : slot + 1;
            AsciiString old = names[slot];
            if (old != null) {
                ownNames.remove(old);
            }
            names[slot] = name;
            ownNames.put(name, slot);
            used[slot] = head;
            out.writeByte(HeadSlots.KEEP_FIELD).writeByte(slot);
        } else {
            out.writeByte(HeadSlots.FIELD);
        }
        text(name, out);
        text(value, out);
    }

    /** Keeps the value in a slot, if there is room or can be. */
    private boolean keeps(int slot, AsciiString name, CharSequence value, ByteBuf out) {
        if (value.length() > MAX_KEPT || neverKept.contains(name)) {
            return false;
        }
        AsciiString text = AsciiString.of(value);
        AsciiString before = values[slot];
        int more = HeadSlots.cost(name, text) - (before == null ? 0 : HeadSlots.cost(name, before));
        int forgotten = 0;
        for (int i = 0; i < HeadSlots.COUNT && forgotten < MAX_FORGOTTEN && kept + more > limit; i++) {
            int other = nextForgotten;
            nextForgotten = (other + 1) % HeadSlots.COUNT;
            if (other != slot && used[other] != head && values[other] != null) {
                forget(other, out);
                forgotten++;
            }
        }
        if (kept + more > limit) {
            return false;
        }
        kept += more;
        values[slot] = text;
        return true;
    }

    private void forget(int slot, ByteBuf out) {
        AsciiString name = names[slot];
        AsciiString value = values[slot];
        if (name != null && value != null) {
            kept -= HeadSlots.cost(name, value);
            values[slot] = null;
            out.writeByte(HeadSlots.FORGET).writeByte(slot);
        }
    }

    private static void text(CharSequence text, ByteBuf out) {
        int length = text.length();
        while (length >= 0x80) {
            out.writeByte(length & 0x7f | 0x80);
            length >>>= 7;
        }
        out.writeByte(length);
        if (text instanceof AsciiString ascii) {
            ByteBufUtil.writeAscii(out, ascii);
        } else {
            ByteBufUtil.writeAscii(out, AsciiString.of(text));
        }
    }
}

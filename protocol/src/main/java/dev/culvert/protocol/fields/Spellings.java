package dev.culvert.protocol.fields;

import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How HTTP/1.1 wrote the names of a head that are not in canonical spelling (docs/protocol.md §5.2). One
 * spelling for each name: the first. Not thread-safe.
 */
public final class Spellings {
    /** The maximum names of a head. */
    private static final int MAX_NAMES = 64;
    /** The maximum length of a name. */
    private static final int MAX_LENGTH = 64;
    /** The maximum bytes of a note: the length of an option. */
    private static final int MAX_NOTE = 255;
    private static final int USUAL_NAMES = 4;
    private static final int TO_UPPER = 'a' - 'A';

    /** All names of a head in lower case, as Netty and others write them. Never changes. */
    static final Spellings LOWER = new Spellings();

    private AsciiString[] written = new AsciiString[USUAL_NAMES];
    private int count;

    /** Adds the spelling of a name, if it is the first one of the name and there is room. */
    boolean add(AsciiString name) {
        if (count == MAX_NAMES || name.length() > MAX_LENGTH || of(name) != null) {
            return false;
        }
        if (count == written.length) {
            written = Arrays.copyOf(written, count * 2);
        }
        written[count++] = name;
        return true;
    }

    /** @param other not {@link #LOWER} */
    void addAll(Spellings other) {
        for (int i = 0; i < other.count; i++) {
            add(other.written[i]);
        }
    }

    /** Returns the spelling of a name; null: the canonical one. */
    public @Nullable AsciiString of(AsciiString name) {
        if (this == LOWER) {
            return name;
        }
        int hash = name.hashCode();
        for (int i = 0; i < count; i++) {
            AsciiString known = written[i];
            if (known.hashCode() == hash && known.contentEqualsIgnoreCase(name)) {
                return known;
            }
        }
        return null;
    }

    /** Returns the note of a head; null if none of its names needs one. */
    public static @Nullable AsciiString note(HeadFields head) {
        Spellings spellings = head.spellings();
        if (spellings == LOWER) {
            return AsciiString.EMPTY_STRING;
        }
        return spellings == null ? null : spellings.noteOf(head);
    }

    private @Nullable AsciiString noteOf(HeadFields head) {
        byte[] note = new byte[MAX_NOTE];
        int at = 0;
        for (int i = 0; i < count; i++) {
            AsciiString name = written[i];
            int number = head.numberOf(name);
            int end = at + 1 + mapBytes(name);
            if (number >= 0 && number <= 0xff && end <= MAX_NOTE) {
                note[at++] = (byte) number;
                for (int letter = 0; letter < name.length(); letter++) {
                    if (AsciiString.isUpperCase(name.byteAt(letter))) {
                        note[at + letter / 8] = (byte) (note[at + letter / 8] | 0x80 >> letter % 8);
                    }
                }
                at = end;
            }
        }
        return at == 0 ? null : new AsciiString(note, 0, at, true);
    }

    /** Reads the note of a head whose names are in lower case. A note with a fault changes nothing. */
    public static void read(AsciiString note, HeadFields head) {
        if (note.isEmpty()) {
            head.spellLower();
            return;
        }
        var read = new Spellings();
        int at = 0;
        while (at < note.length()) {
            int number = note.byteAt(at++) & 0xff;
            AsciiString name = number < head.size() ? head.name(number) : AsciiString.EMPTY_STRING;
            int end = at + mapBytes(name);
            if (name.isEmpty() || name.charAt(0) == ':' || name.length() > MAX_LENGTH
                    || end > note.length()) {
                return;
            }
            AsciiString spelled = spelled(name, note, at, end);
            if (spelled == null || !read.add(spelled)) {
                return;
            }
            at = end;
        }
        head.spell(read);
    }

    /** Returns the name with the letters of the map in upper case; null if the map marks anything else. */
    private static @Nullable AsciiString spelled(AsciiString name, AsciiString note, int from, int to) {
        byte[] letters = name.toByteArray();
        for (int bit = 0; bit < (to - from) * 8; bit++) {
            if ((note.byteAt(from + bit / 8) & 0x80 >> bit % 8) != 0) {
                if (bit >= letters.length || letters[bit] < 'a' || letters[bit] > 'z') {
                    return null;
                }
                letters[bit] = (byte) (letters[bit] - TO_UPPER);
            }
        }
        return new AsciiString(letters, false);
    }

    private static int mapBytes(AsciiString name) {
        return (name.length() + 7) / 8;
    }
}

package dev.culvert.protocol.fields;

import io.netty.handler.codec.Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a head in two arrays: names in lower case and values, pseudo-fields first, each field in the
 * order of its adding. A head of 20 fields takes two objects instead of Netty's 22, and looking a field up is
 * a walk over names whose hashes are known. Names and values are not checked. Not thread-safe.
 */
public final class HeadFields extends TypedFields {
    private static final AsciiString METHOD = AsciiString.cached(":method");
    private static final AsciiString SCHEME = AsciiString.cached(":scheme");
    private static final AsciiString AUTHORITY = AsciiString.cached(":authority");
    private static final AsciiString PATH = AsciiString.cached(":path");
    private static final AsciiString STATUS = AsciiString.cached(":status");
    private static final AsciiString[] NONE = {};

    private AsciiString[] names;
    private CharSequence[] values;
    private int size;
    /** The number of pseudo-fields. */
    private int pseudo;
    /** A bit for each name that was added; a name whose bit is missing is not here. */
    private long bits;
    private @Nullable Spellings spellings;

    /** @param room for fields without growing */
    public HeadFields(int room) {
        names = room == 0 ? NONE : new AsciiString[room];
        values = new CharSequence[room];
    }

    // ---- by number ----

    /** The name of a field, from 0 to {@link #size}. */
    public AsciiString name(int number) {
        return names[number];
    }

    /** The value of a field, from 0 to {@link #size}. */
    public CharSequence value(int number) {
        return values[number];
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean isEmpty() {
        return size == 0;
    }

    // ---- spelling ----

    /** How HTTP/1.1 wrote the names; null: all in canonical spelling. */
    public @Nullable Spellings spellings() {
        return spellings;
    }

    /**
     * Notes how HTTP/1.1 wrote a name that is not in canonical spelling. The name itself is added in lower
     * case.
     */
    public void spell(AsciiString written) {
        if (spellings == null) {
            spellings = new Spellings();
        }
        if (spellings != Spellings.LOWER) {
            spellings.add(written);
        }
    }

    /** Notes that HTTP/1.1 wrote all names in lower case. */
    public void spellLower() {
        spellings = Spellings.LOWER;
    }

    void spell(Spellings more) {
        if (more == Spellings.LOWER || spellings == Spellings.LOWER) {
            spellings = Spellings.LOWER;
            return;
        }
        if (spellings == null) {
            spellings = new Spellings();
        }
        spellings.addAll(more);
    }

    /** Returns the number of the first regular field of this name in any case; -1: there is none. */
    int numberOf(AsciiString name) {
        for (int i = pseudo; i < size; i++) {
            if (names[i].hashCode() == name.hashCode() && names[i].contentEqualsIgnoreCase(name)) {
                return i;
            }
        }
        return -1;
    }

    // ---- looking up ----

    private static long bit(int hash) {
        return 1L << (hash * 0x9E3779B9 >>> 26);
    }

    /** Returns the number of the first field of this name from {@code from} on; -1: there is none. */
    private int find(CharSequence name, int from) {
        if (name instanceof AsciiString wanted) {
            int hash = wanted.hashCode();
            if ((bits & bit(hash)) == 0) {
                return -1;
            }
            for (int i = from; i < size; i++) {
                AsciiString present = names[i];
                if (present.hashCode() == hash && present.equals(wanted)) {
                    return i;
                }
            }
            return -1;
        }
        for (int i = from; i < size; i++) {
            if (names[i].contentEquals(name)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public @Nullable CharSequence get(CharSequence name) {
        int at = find(name, 0);
        return at < 0 ? null : values[at];
    }

    @Override
    public List<CharSequence> getAll(CharSequence name) {
        int at = find(name, 0);
        if (at < 0) {
            return List.of();
        }
        int second = find(name, at + 1);
        if (second < 0) {
            return List.of(values[at]);
        }
        List<CharSequence> all = new ArrayList<>(4);
        all.add(values[at]);
        for (int next = second; next >= 0; next = find(name, next + 1)) {
            all.add(values[next]);
        }
        return all;
    }

    @Override
    public boolean contains(CharSequence name) {
        return find(name, 0) >= 0;
    }

    @Override
    public boolean contains(CharSequence name, CharSequence value) {
        return contains(name, value, false);
    }

    @Override
    public boolean contains(CharSequence name, CharSequence value, boolean caseInsensitive) {
        for (int at = find(name, 0); at >= 0; at = find(name, at + 1)) {
            if (caseInsensitive
                    ? AsciiString.contentEqualsIgnoreCase(values[at], value)
                    : AsciiString.contentEquals(values[at], value)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Set<CharSequence> names() {
        return new LinkedHashSet<>(Arrays.asList(names).subList(0, size));
    }

    @Override
    public Iterator<CharSequence> valueIterator(CharSequence name) {
        return getAll(name).iterator();
    }

    /** An entry holds until the next one is asked for. */
    @Override
    public Iterator<Map.Entry<CharSequence, CharSequence>> iterator() {
        return new Fields();
    }

    /** Is its own entry: one object for all fields of a head. */
    private final class Fields
            implements
                Iterator<Map.Entry<CharSequence, CharSequence>>,
                Map.Entry<CharSequence, CharSequence> {
        private int number = -1;

        @Override
        public boolean hasNext() {
            return number + 1 < size;
        }

        @Override
        public Map.Entry<CharSequence, CharSequence> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            number++;
            return this;
        }

        @Override
        public CharSequence getKey() {
            return names[number];
        }

        @Override
        public CharSequence getValue() {
            return values[number];
        }

        @Override
        public CharSequence setValue(CharSequence value) {
            CharSequence before = values[number];
            values[number] = value;
            return before;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return new SimpleEntry<>(this).equals(other);
        }

        @Override
        public int hashCode() {
            return new SimpleEntry<>(this).hashCode();
        }

        @Override
        public String toString() {
            return names[number] + "=" + values[number];
        }
    }

    // ---- changing ----

    @Override
    public Http2Headers add(CharSequence name, CharSequence value) {
        if (size == values.length) {
            int more = Math.max(8, size * 2);
            names = Arrays.copyOf(names, more);
            values = Arrays.copyOf(values, more);
        }
        AsciiString text = AsciiString.of(name);
        int at = size;
        if (!text.isEmpty() && text.byteAt(0) == ':') {
            at = pseudo++;
            System.arraycopy(names, at, names, at + 1, size - at);
            System.arraycopy(values, at, values, at + 1, size - at);
        }
        names[at] = text;
        values[at] = value;
        bits |= bit(text.hashCode());
        size++;
        return this;
    }

    @Override
    public Http2Headers add(CharSequence name, Iterable<? extends CharSequence> added) {
        added.forEach(value -> add(name, value));
        return this;
    }

    @Override
    public Http2Headers add(CharSequence name, CharSequence... added) {
        return add(name, List.of(added));
    }

    @Override
    public Http2Headers add(Headers<? extends CharSequence, ? extends CharSequence, ?> other) {
        if (other == this) {
            throw new IllegalArgumentException("a head can't be added to itself");
        }
        for (Map.Entry<? extends CharSequence, ? extends CharSequence> field : other) {
            add(field.getKey(), field.getValue());
        }
        if (other instanceof HeadFields own && own.spellings != null) {
            spell(own.spellings);
        }
        return this;
    }

    /** Sets the value of the first field of this name, and removes the others. */
    @Override
    public Http2Headers set(CharSequence name, CharSequence value) {
        int at = find(name, 0);
        if (at < 0) {
            return add(name, value);
        }
        values[at] = value;
        removeFrom(name, at + 1);
        return this;
    }

    @Override
    public Http2Headers set(CharSequence name, Iterable<? extends CharSequence> set) {
        remove(name);
        return add(name, set);
    }

    @Override
    public Http2Headers set(CharSequence name, CharSequence... set) {
        remove(name);
        return add(name, set);
    }

    @Override
    public Http2Headers set(Headers<? extends CharSequence, ? extends CharSequence, ?> other) {
        if (other != this) {
            clear();
            add(other);
        }
        return this;
    }

    @Override
    public Http2Headers setAll(Headers<? extends CharSequence, ? extends CharSequence, ?> other) {
        if (other != this) {
            for (CharSequence name : other.names()) {
                remove(name);
            }
            add(other);
        }
        return this;
    }

    @Override
    public boolean remove(CharSequence name) {
        return removeFrom(name, 0);
    }

    private boolean removeFrom(CharSequence name, int from) {
        int at = find(name, from);
        boolean any = at >= 0;
        while (at >= 0) {
            if (at < pseudo) {
                pseudo--;
            }
            size--;
            System.arraycopy(names, at + 1, names, at, size - at);
            System.arraycopy(values, at + 1, values, at, size - at);
            at = find(name, at);
        }
        return any;
    }

    @Override
    public @Nullable CharSequence getAndRemove(CharSequence name) {
        CharSequence value = get(name);
        remove(name);
        return value;
    }

    @Override
    public List<CharSequence> getAllAndRemove(CharSequence name) {
        List<CharSequence> all = getAll(name);
        remove(name);
        return all;
    }

    @Override
    public Http2Headers clear() {
        size = 0;
        pseudo = 0;
        bits = 0;
        spellings = null;
        return this;
    }

    // ---- pseudo-fields ----

    @Override
    public Http2Headers method(CharSequence value) {
        return set(METHOD, value);
    }

    @Override
    public Http2Headers scheme(CharSequence value) {
        return set(SCHEME, value);
    }

    @Override
    public Http2Headers authority(CharSequence value) {
        return set(AUTHORITY, value);
    }

    @Override
    public Http2Headers path(CharSequence value) {
        return set(PATH, value);
    }

    @Override
    public Http2Headers status(CharSequence value) {
        return set(STATUS, value);
    }

    @Override
    public @Nullable CharSequence method() {
        return get(METHOD);
    }

    @Override
    public @Nullable CharSequence scheme() {
        return get(SCHEME);
    }

    @Override
    public @Nullable CharSequence authority() {
        return get(AUTHORITY);
    }

    @Override
    public @Nullable CharSequence path() {
        return get(PATH);
    }

    @Override
    public @Nullable CharSequence status() {
        return get(STATUS);
    }

    @Override
    public String toString() {
        var text = new StringBuilder("HeadFields[");
        for (int i = 0; i < size; i++) {
            text.append(i == 0 ? "" : ", ").append(names[i]).append(": ").append(values[i]);
        }
        return text.append(']').toString();
    }
}

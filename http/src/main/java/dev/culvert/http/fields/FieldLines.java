package dev.culvert.http.fields;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the field lines of HTTP/1.1 heads (RFC 9112 §5) that are whole and of the usual form. The others are
 * not refused: {@link #read} declines them, and a strict decoder decides. So this class never gives a head a
 * meaning of its own.
 *
 * <p>Usual are lines {@code name: value} with one space, a token, and a value of visible ASCII with
 * spaces only inside; a {@code Connection} of {@code keep-alive} only; and no field that changes how the
 * message is framed, but one {@code Content-Length}. A line that repeats the one at the same place in the
 * connection's last head costs a comparison: its name and value, with their hashes, are there already. Lines
 * are kept up to {@link #MAX_KEPT_BYTES}.
 *
 * <p>Of one connection, and confined to its event loop.
 */
public final class FieldLines {
    /** The maximum length of a head. */
    public static final int MAX_BYTES = 4096;
    /** The maximum heap that kept lines take. A head that needs more is declined. */
    public static final int MAX_KEPT_BYTES = 12 * 1024;
    private static final int MAX_LINES = 64;
    /** What a line takes beside its octets: an object, two texts, three headers of arrays, the place. */
    private static final int LINE_BYTES = 168;
    private static final int SPELLING_BYTES = 32;

    private static final AsciiString KEEP_ALIVE = AsciiString.cached("keep-alive");
    private static final Map<AsciiString, Use> USES = Map.ofEntries(
            Map.entry(AsciiString.cached("host"), Use.HOST),
            Map.entry(AsciiString.cached("content-length"), Use.LENGTH),
            Map.entry(AsciiString.cached("connection"), Use.CONNECTION),
            Map.entry(KEEP_ALIVE, Use.KEEP_ALIVE),
            Map.entry(AsciiString.cached("proxy-connection"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("transfer-encoding"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("te"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("trailer"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("upgrade"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("expect"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("proxy-authenticate"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("proxy-authorization"), Use.UNUSUAL),
            Map.entry(AsciiString.cached("http2-settings"), Use.UNUSUAL));

    private enum Use {
        FORWARDED, HOST, LENGTH, CONNECTION, KEEP_ALIVE, UNUSUAL
    }

    /** A line. */
    private static final class Line {
        /** Without CRLF. */
        final byte[] bytes;
        final AsciiString name;
        final AsciiString value;
        final Use use;
        /** The name as it was written, on {@link #bytes}; null: in canonical spelling. */
        final @Nullable AsciiString written;
        final boolean isLowerCase;

        Line(byte[] bytes, AsciiString name, AsciiString value, Use use) {
            this.bytes = bytes;
            this.name = name;
            AsciiString view = new AsciiString(bytes, 0, name.length(), false);
            this.isLowerCase = name.equals(view);
            this.written = CanonicalName.unless(isLowerCase ? name : view, name);
            this.value = value;
            this.use = use;
        }

        int cost() {
            return LINE_BYTES + (written == null || isLowerCase ? 0 : SPELLING_BYTES) + bytes.length
                    + name.length();
        }
    }

    private final @Nullable Line[] lines = new Line[MAX_LINES];
    private int count;
    private boolean unusuallySpelled;
    private boolean lowerCase;
    private int kept;
    private @Nullable AsciiString host;
    private @Nullable AsciiString length;
    private @Nullable AsciiString keepAlive;

    /**
     * Reads lines up to the empty one.
     *
     * @param head a head, or the part of one that has come
     * @param from the index of the first line
     * @param to the index behind the last byte
     * @return the index behind the empty line; -1 if the lines are not whole or not usual, and then nothing
     *     else of this object may be asked
     */
    public int read(byte[] head, int from, int to) {
        count = 0;
        unusuallySpelled = false;
        lowerCase = true;
        host = null;
        length = null;
        keepAlive = null;
        int at = from;
        while (at + 1 < to) {
            if (head[at] == '\r') {
                return head[at + 1] == '\n' ? at + 2 : -1;
            }
            if (count == MAX_LINES) {
                return -1;
            }
            Line line = lines[count];
            if (line == null || !isAt(line, head, at, to)) {
                line = parse(head, at, to);
                if (line == null || !keeps(line)) {
                    return -1;
                }
            }
            if (!takes(line)) {
                return -1;
            }
            count++;
            at += line.bytes.length + 2;
        }
        return -1;
    }

    /** Keeps a line at its place. Lines of earlier heads behind it give way; false: there is no room. */
    private boolean keeps(Line line) {
        forget(count);
        for (int i = count + 1; i < MAX_LINES && kept + line.cost() > MAX_KEPT_BYTES; i++) {
            forget(i);
        }
        if (kept + line.cost() > MAX_KEPT_BYTES) {
            return false;
        }
        kept += line.cost();
        lines[count] = line;
        return true;
    }

    private void forget(int place) {
        Line line = lines[place];
        if (line != null) {
            kept -= line.cost();
            lines[place] = null;
        }
    }

    /** The heap that the kept lines take. */
    int keptBytes() {
        return kept;
    }

    /** Whether a line stands here. It holds no CR, so what matches is whole. */
    private static boolean isAt(Line line, byte[] head, int at, int to) {
        int end = at + line.bytes.length;
        return end + 1 < to && head[end] == '\r' && head[end + 1] == '\n'
                && Arrays.equals(line.bytes, 0, line.bytes.length, head, at, end);
    }

    /** Returns the line; null if it is not whole or not usual. */
    private static @Nullable Line parse(byte[] head, int from, int to) {
        int colon = from;
        while (colon < to && FieldText.lower(head[colon]) != 0) {
            colon++;
        }
        int value = colon + 2;
        if (colon == from || value >= to || head[colon] != ':' || head[colon + 1] != ' ') {
            return null;
        }
        int end = value;
        while (end < to && head[end] >= ' ' && head[end] < 0x7f) {
            end++;
        }
        boolean whole = end + 1 < to && head[end] == '\r' && head[end + 1] == '\n';
        if (!whole || end == value || head[value] == ' ' || head[end - 1] == ' ') {
            return null;
        }
        byte[] bytes = Arrays.copyOfRange(head, from, end);
        AsciiString name = name(bytes, colon - from);
        return new Line(bytes, name, new AsciiString(bytes, value - from, end - value, false),
                USES.getOrDefault(name, Use.FORWARDED));
    }

    private static AsciiString name(byte[] line, int length) {
        byte[] name = new byte[length];
        for (int i = 0; i < length; i++) {
            name[i] = FieldText.lower(line[i]);
        }
        return new AsciiString(name, false);
    }

    /** Notes a line. Returns false if it makes the head unusual. */
    private boolean takes(Line line) {
        if (isForwarded(line)) {
            unusuallySpelled |= line.written != null;
            lowerCase &= line.isLowerCase;
        }
        return switch (line.use) {
            case FORWARDED -> true;
            case HOST -> {
                boolean first = host == null;
                host = line.value;
                yield first;
            }
            case LENGTH -> {
                boolean first = length == null;
                length = line.value;
                yield first;
            }
            case KEEP_ALIVE -> {
                boolean first = keepAlive == null;
                keepAlive = line.value;
                yield first;
            }
            case CONNECTION -> line.value.contentEqualsIgnoreCase(KEEP_ALIVE);
            case UNUSUAL -> false;
        };
    }

    /** The number of lines. */
    public int count() {
        return count;
    }

    /** The value of the only {@code Host}. */
    public @Nullable AsciiString host() {
        return host;
    }

    /** The value of the only {@code Content-Length}, as it was sent. */
    public @Nullable AsciiString contentLength() {
        return length;
    }

    /** The value of the only {@code Keep-Alive}. */
    public @Nullable AsciiString keepAlive() {
        return keepAlive;
    }

    /** Whether all names, but those of {@code Host} and of this hop, are in lower case. */
    public boolean isLowerCase() {
        return unusuallySpelled && lowerCase;
    }

    /** Whether one of these names is not in canonical spelling. */
    public boolean isUnusuallySpelled() {
        return unusuallySpelled;
    }

    /**
     * Gives the names, as they were written, whose first line is not in canonical spelling. Those of {@code
     * Host} and of this hop are left out.
     */
    public void spellings(Consumer<AsciiString> to) {
        for (int i = 0; i < count; i++) {
            Line line = Objects.requireNonNull(lines[i]);
            if (line.written != null && isForwarded(line) && isFirst(i, line.name)) {
                to.accept(line.written);
            }
        }
    }

    private boolean isFirst(int place, AsciiString name) {
        for (int i = 0; i < place; i++) {
            if (Objects.requireNonNull(lines[i]).name.equals(name)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isForwarded(Line line) {
        return line.use == Use.FORWARDED || line.use == Use.LENGTH;
    }

    /** Adds the lines, but those of {@code Host} and of this hop. Names are in lower case. */
    public void addTo(Http2Headers fields) {
        for (int i = 0; i < count; i++) {
            Line line = Objects.requireNonNull(lines[i]);
            if (isForwarded(line)) {
                fields.add(line.name, line.value);
            }
        }
    }
}

package dev.culvert.http.fields;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import io.netty.util.ByteProcessor;
import org.jspecify.annotations.Nullable;

/**
 * Judges the octets of HTTP/1.0 and HTTP/1.1 messages against RFC 9112, before a decoder gives them a
 * meaning. The only judge of their syntax and of their framing, for requests and responses alike: a message
 * that two recipients could read in two ways has a {@link #fault}. Tolerates only what every recipient reads
 * in the same way: empty lines before a request line (§2.2); of responses, a status line without the space
 * before an empty reason (§4), minor versions above 1 (RFC 9110 §2.5), spaces before a colon (§5.1), and
 * framing fields of a 204, which ends with its head whatever they say (§6.3).
 *
 * <pre>
 *          ┌────── interim response ──────┐
 *          ▼                              │
 * ┌──► START ──► first line ──► fields ───┼──► BODY ───────────────────────────┐
 * │                               ▲       ├──► CHUNK_SIZE ──► CHUNK ──┐        │
 * │                      trailers └───────│──────── 0 ─┘  ▲───────────┘        │
 * │                                       ├──► OPEN_END: until the connection ends
 * └──── request, or expect() ◄── OVER ◄───┴────────────────────────────────────┘
 * any ──► FAULT
 * </pre>
 *
 * <p>One class of more than 300 lines, because it is one machine, and its drawing is its outline. Keeps
 * nothing of a message but the value of a framing field. Limits of length are the decoder's. Of one
 * connection, and confined to its event loop.
 */
public final class Http1Grammar {
    /** The most octets of a method. Real ones have a third of that. */
    public static final int MAX_METHOD = 64;
    /** The most octets of a framing field's value that are kept; longer ones are faults. */
    private static final int MAX_VALUE = 40;
    private static final int MAX_CHUNK_DIGITS = 15;
    /**
     * The most octets of chunk extensions that no data make up for (RFC 9112 §7.1.1: their length should be
     * limited). Each chunk makes up for {@link #FREE_EXTENSION} octets, and each octet of its data for two.
     */
    private static final int MAX_EXTENSIONS = 32 << 10;
    private static final int FREE_EXTENSION = 16;
    /** The longest line that a decoder may be told to take: longer ones are its to refuse. */
    private static final int MAX_LINE = 64 << 10;
    private static final String NO_SIZE = "a chunk size is not a hexadecimal number";
    private static final AsciiString LENGTH = AsciiString.cached("content-length");
    private static final AsciiString CODING = AsciiString.cached("transfer-encoding");
    private static final AsciiString CHUNKED = AsciiString.cached("chunked");
    private static final AsciiString VERSION = AsciiString.cached("HTTP/1.");

    private enum State {
        /** No octet of the message was taken. */
        START,
        /** After the CR of an empty line before a request line. */
        START_LF, METHOD, TARGET, VERSION, VERSION_END, STATUS, REASON,
        /** After the CR of a first line or a field. */
        LINE_LF, FIELD, NAME,
        /** After a space behind the name of a response's field. */
        NAME_END, VALUE,
        /** After the CR of the empty line. */
        SECTION_LF, BODY, CHUNK_SIZE, CHUNK_SPACE, CHUNK_EXTENSION, CHUNK_LF, CHUNK, CHUNK_END, CHUNK_END_LF, OPEN_END,
        /** A response is complete, and no other one is expected. */
        OVER, FAULT
    }

    private final boolean requests;
    private final ByteProcessor octets = this::isInside;
    private final byte[] value = new byte[MAX_VALUE];
    private State state = State.START;
    private @Nullable String fault;
    private boolean toHead;
    private boolean http10;
    private int status;
    private boolean trailers;
    private boolean inVain;
    /** Octets of the present word, or digits of the present number. */
    private int count;
    /** The framing field whose name the present one has, as far as it was read. */
    private @Nullable AsciiString framing;
    /** The declared length; below 0: none. */
    private long length;
    private boolean chunked;
    /** The octets that remain of a body or a chunk. */
    private long left;
    /** Octets of chunk extensions of the present message that no data have made up for. */
    private long extensions;
    private long extensionsOfLine;

    private Http1Grammar(boolean requests) {
        this.requests = requests;
        start();
    }

    /** A judge of the requests of a connection, one after the other. */
    public static Http1Grammar ofRequests() {
        return new Http1Grammar(true);
    }

    /** A judge of the responses of a connection. Each final one must be {@linkplain #expect expected}. */
    public static Http1Grammar ofResponses() {
        Http1Grammar grammar = new Http1Grammar(false);
        grammar.state = State.OVER;
        return grammar;
    }

    /**
     * Expects the responses to a request: informational ones, then one final one.
     *
     * @param head whether the request is a HEAD, whose response has no body
     */
    public void expect(boolean head) {
        toHead = head;
        fault = null;
        inVain = false;
        start();
    }

    /**
     * Why the octets are not valid, as a clause; null: they are, so far. Nothing behind a fault is judged.
     */
    public @Nullable String fault() {
        return fault;
    }

    /** Whether the last response was a 204 whose fields announce content, which it can't have. */
    public boolean isFramedInVain() {
        return inVain;
    }

    /** Whether all octets taken so far belong to complete messages. */
    public boolean isBetweenMessages() {
        return state == State.START || state == State.OVER;
    }

    /**
     * Takes the next octets of a connection. Borrows {@code in} for the call and leaves its indices.
     *
     * @return the index behind the last octet that was judged: {@code to}, or that of the octet at fault
     */
    public int take(ByteBuf in, int from, int to) {
        int at = from;
        while (at < to && state != State.FAULT) {
            switch (state) {
                case OPEN_END -> at = to;
                case BODY, CHUNK -> {
                    int some = (int) Math.min(left, to - at);
                    at += some;
                    left -= some;
                    if (left == 0) {
                        bodyEnds();
                    }
                }
                default -> {
                    int stopped = in.forEachByte(at, to - at, octets);
                    at = stopped < 0 ? to : state == State.FAULT ? stopped : stopped + 1;
                }
            }
        }
        return at;
    }

    private void start() {
        state = State.START;
        http10 = false;
        trailers = false;
        length = -1;
        chunked = false;
        count = 0;
        extensions = 0;
        extensionsOfLine = 0;
    }

    private void bodyEnds() {
        if (state == State.CHUNK) {
            state = State.CHUNK_END;
        } else {
            messageEnds();
        }
    }

    private void messageEnds() {
        start();
        if (!requests) {
            state = State.OVER;
        }
    }

    private void fail(String why) {
        fault = why;
        state = State.FAULT;
    }

    private void require(boolean valid, State next, String otherwise) {
        if (valid) {
            state = next;
        } else {
            fail(otherwise);
        }
    }

    /** Judges an octet of a line. Returns false if the octets behind it are not of a line, or not judged. */
    private boolean isInside(byte b) {
        switch (state) {
            case START -> begin(b);
            case START_LF -> require(b == '\n', State.START, "a bare CR before the request line");
            case METHOD -> {
                if (FieldText.lower(b) == 0) {
                    word(b, State.TARGET, "the method is not a token");
                } else if (++count == MAX_METHOD) {
                    fail("the method is longer than " + MAX_METHOD + " octets");
                }
            }
            case TARGET -> {
                if ((b >= 0 && b <= ' ') || b == 0x7f) {
                    word(b, State.VERSION, "the target is not followed by a space and a version");
                } else {
                    count++;
                }
            }
            case VERSION -> version(b);
            case VERSION_END -> require(b == (requests ? '\r' : ' '),
                    requests ? State.LINE_LF : State.STATUS, "the version is not followed by one "
                            + (requests ? "CRLF" : "space"));
            case STATUS -> status(b);
            case REASON -> text(b, "the reason has a control character");
            case LINE_LF -> require(b == '\n', State.FIELD, "a bare CR in a line");
            case FIELD -> field(b);
            case NAME -> name(b);
            case NAME_END -> nameEnd(b);
            case VALUE -> value(b);
            case SECTION_LF -> {
                require(b == '\n', State.SECTION_LF, "a bare CR as an empty line");
                if (state == State.SECTION_LF) {
                    sectionEnds();
                }
            }
            case CHUNK_SIZE -> chunkSize(b);
            case CHUNK_SPACE -> {
                if (!isSpace(b)) {
                    require(b == ';', State.CHUNK_EXTENSION, NO_SIZE);
                }
            }
            case CHUNK_EXTENSION -> extension(b);
            case CHUNK_LF -> {
                trailers = left == 0;
                require(b == '\n', left == 0 ? State.FIELD : State.CHUNK, "a bare CR behind a chunk size");
            }
            case CHUNK_END -> require(b == '\r', State.CHUNK_END_LF, "no CRLF behind a chunk");
            case CHUNK_END_LF -> {
                count = 0;
                left = 0;
                require(b == '\n', State.CHUNK_SIZE, "no CRLF behind a chunk");
            }
            case OVER -> fail("octets behind the response");
            case BODY, CHUNK, OPEN_END, FAULT -> throw new IllegalStateException(state + " is not of a line");
        }
        return state != State.BODY && state != State.CHUNK && state != State.OPEN_END
                && state != State.FAULT;
    }

    private void begin(byte b) {
        if (requests && b == '\r') {
            state = State.START_LF;
        } else if (requests) {
            require(FieldText.lower(b) != 0, State.METHOD, "the method is not a token");
        } else {
            version(b);
        }
    }

    /** Ends a word of the request line at {@code b}: one space. */
    private void word(byte b, State next, String otherwise) {
        require(b == ' ' && (next == State.TARGET || count > 0), next, otherwise);
        count = 0;
    }

    private void version(byte b) {
        state = State.VERSION;
        if (count < VERSION.length()) {
            require(b == VERSION.byteAt(count), State.VERSION, "the version is not HTTP/1.1 or HTTP/1.0");
            count++;
        } else {
            http10 = b == '0';
            boolean later = !requests && b > '1' && b <= '9'; // RFC 9110 §2.5: read as 1.1
            require(http10 || b == '1' || later, State.VERSION_END,
                    "the version is not HTTP/1.1 or HTTP/1.0");
            count = 0;
            status = 0;
        }
    }

    private void status(byte b) {
        if (b >= '0' && b <= '9' && count < 3) {
            count++;
            status = 10 * status + b - '0';
            return;
        }
        boolean three = count == 3 && status >= 100;
        if (b == '\r') {
            require(three, State.LINE_LF, "the status is not three digits from 100");
        } else if (b == '\n' && three) {
            fail("a line ends in LF alone");
        } else {
            require(three && b == ' ', State.REASON, "the status is not three digits from 100");
        }
    }

    /** An octet of the reason or of a field value, up to its CR. */
    private void text(byte b, String otherwise) {
        if (b == '\r') {
            state = State.LINE_LF;
        } else if (b == '\n') {
            fail("a line ends in LF alone");
        } else if (!isText(b)) {
            fail(otherwise);
        }
    }

    /** RFC 9110 §5.5: visible characters, spaces, tabs, and octets above ASCII. */
    private static boolean isText(byte b) {
        return (b >= ' ' || b < 0 || b == '\t') && b != 0x7f;
    }

    private void field(byte b) {
        int lower = FieldText.lower(b);
        if (b == '\r') {
            state = State.SECTION_LF;
        } else if (lower == 0) {
            fail(b == ' ' || b == '\t' ? "a folded field" : "a field name is not a token");
        } else {
            framing = lower == 'c' ? LENGTH : lower == 't' ? CODING : null;
            count = 1;
            state = State.NAME;
        }
    }

    private void name(byte b) {
        AsciiString expected = framing;
        int lower = FieldText.lower(b);
        if (b == ':' || (!requests && isSpace(b))) {
            framing = expected != null && count == expected.length() ? expected : null;
            count = 0;
            state = b == ':' ? State.VALUE : State.NAME_END;
        } else if (lower == 0) {
            fail("a field name is not a token");
        } else {
            framing = expected != null && count < expected.length() && expected.byteAt(count) == lower
                    ? expected
                    : null;
            count++;
        }
    }

    /** RFC 9112 §5.1: a proxy removes the space between name and colon of a response. */
    private void nameEnd(byte b) {
        if (!isSpace(b)) {
            require(b == ':', State.VALUE, "a field name is not a token");
        }
    }

    private void value(byte b) {
        if (framing == null) {
            text(b, "a field value has a control character");
            return;
        }
        text(b, "a field value has a control character");
        if (state == State.LINE_LF) {
            framed(framing);
        } else if (count < MAX_VALUE) {
            value[count++] = b;
        } else {
            fail(framing + " is not valid");
        }
    }

    /** The value of a framing field is complete. */
    private void framed(AsciiString name) {
        int from = 0;
        while (from < count && isSpace(value[from])) {
            from++;
        }
        while (count > from && isSpace(value[count - 1])) {
            count--;
        }
        var text = new AsciiString(value, from, count - from, false);
        if (trailers) {
            if (!requests) { // those of requests are dropped
                fail("a trailer frames the response");
            }
        } else if (length >= 0 || chunked) {
            fail("the body's length is declared twice");
        } else if (name.equals(LENGTH)) {
            length = ContentLength.parse(text);
            require(length >= 0, State.LINE_LF, "Content-Length is not one number");
        } else {
            // RFC 9112 §6.1: codings are of one hop, which offered no other, and HTTP/1.0 has none.
            chunked = true;
            require(!http10 && CHUNKED.contentEqualsIgnoreCase(text), State.LINE_LF,
                    "the only Transfer-Encoding served is chunked, in HTTP/1.1");
        }
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b == '\t';
    }

    private void sectionEnds() {
        if (trailers) {
            messageEnds();
        } else if (requests) {
            bodyBegins(false);
        } else if (status < 200 || status == 204 || status == 205) {
            withoutContent();
        } else if (toHead || status == 304) {
            messageEnds();
        } else {
            bodyBegins(true);
        }
    }

    /**
     * Ends the head of a response that can't have content (RFC 9110 §6.4.1, §15.3.6, RFC 9112 §6.1). Many
     * servers frame a 204; what follows it is behind the response.
     */
    private void withoutContent() {
        boolean bare = status != 205; // a 205 may say with an empty chunk that it has none
        inVain = status == 204 && (length > 0 || chunked);
        if (!toHead && status != 204 && (length > 0 || (chunked && bare))) {
            fail("a response of status " + status + " has content");
        } else if (status == 101) {
            state = State.OPEN_END;
        } else if (status < 200) {
            start();
        } else if (toHead || bare) {
            messageEnds();
        } else {
            bodyBegins(true);
        }
    }

    private void bodyBegins(boolean untilTheEnd) {
        count = 0;
        left = Math.max(length, 0);
        if (chunked) {
            state = State.CHUNK_SIZE;
        } else if (left > 0) {
            state = State.BODY;
        } else if (length < 0 && untilTheEnd) {
            state = State.OPEN_END;
        } else {
            messageEnds();
        }
    }

    /** An octet of a chunk extension, up to its CR. Extensions are dropped unread. */
    private void extension(byte b) {
        if (b == '\r') {
            boolean isRefused = extensionsOfLine > MAX_LINE;
            extensions = Math.max(0, extensions - FREE_EXTENSION - 2 * left);
            extensionsOfLine = 0;
            state = State.CHUNK_LF;
            if (extensions > MAX_EXTENSIONS && !isRefused) {
                fail("the chunk extensions are too long for the data");
            }
        } else if (!isText(b)) {
            fail("a chunk extension has a control character");
        } else {
            extensions++;
            extensionsOfLine++;
        }
    }

    private void chunkSize(byte b) {
        int digit = Character.digit(b, 16);
        if (digit >= 0 && count < MAX_CHUNK_DIGITS) {
            count++;
            left = left << 4 | digit;
        } else {
            // RFC 9112 §7.1.1: white space in front of an extension is bad, but allowed
            State next = b == ';' ? State.CHUNK_EXTENSION : isSpace(b) ? State.CHUNK_SPACE : State.CHUNK_LF;
            require(count > 0 && (next != State.CHUNK_LF || b == '\r'), next, NO_SIZE);
        }
    }
}

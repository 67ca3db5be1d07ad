package dev.culvert.e2e;

import static dev.culvert.e2e.WebSocketBytes.BINARY;
import static dev.culvert.e2e.WebSocketBytes.BINARY_BEGINS;
import static dev.culvert.e2e.WebSocketBytes.CLOSE;
import static dev.culvert.e2e.WebSocketBytes.ENDS;
import static dev.culvert.e2e.WebSocketBytes.GOES_ON;
import static dev.culvert.e2e.WebSocketBytes.PING;
import static dev.culvert.e2e.WebSocketBytes.PONG;
import static dev.culvert.e2e.WebSocketBytes.TEXT;
import static dev.culvert.e2e.WebSocketBytes.TEXT_BEGINS;
import static dev.culvert.e2e.WebSocketBytes.close;
import static dev.culvert.e2e.WebSocketBytes.frame;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * What a client sends on a WebSocket, after the cases of the Autobahn test suite, and how a correct echo server ends it.
 *
 * @param name what it is about
 * @param writes what is sent, each in a write of its own
 * @param code of the server's Close frame; 1005: it has none, 1006: there is no Close frame
 */
record WebSocketCase(String name, List<byte[]> writes, int code) {
    private static final byte[] BYE = close(1000, "");
    private static final int[] SIZES = {0, 1, 125, 126, 127, 128, 255, 1000, 65535, 65536, 65537, 131072};

    static List<WebSocketCase> all() {
        List<WebSocketCase> all = new ArrayList<>();
        framing(all);
        control(all);
        reserved(all);
        fragments(all);
        utf8(all);
        closing(all);
        return all;
    }

    byte[] bytes() {
        return joined(writes.toArray(new byte[0][]));
    }

    @Override
    public String toString() {
        return name;
    }

    /** Ends with a Close, which is answered. */
    private static void valid(List<WebSocketCase> to, String name, byte[]... frames) {
        List<byte[]> writes = new ArrayList<>(List.of(frames));
        writes.add(BYE);
        to.add(new WebSocketCase(name, writes, 1000));
    }

    /** In one write: the server hangs up as soon as it sees what is wrong. */
    private static void ended(List<WebSocketCase> to, String name, int code, byte[]... frames) {
        to.add(new WebSocketCase(name, List.of(joined(frames)), code));
    }

    private static byte[] joined(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(part -> part.length).sum());
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    private static byte[][] pieces(byte[] bytes, int size) {
        byte[][] pieces = new byte[(bytes.length + size - 1) / size][];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = Arrays.copyOfRange(bytes, i * size, Math.min(bytes.length, (i + 1) * size));
        }
        return pieces;
    }

    private static void framing(List<WebSocketCase> to) {
        for (int size : SIZES) {
            valid(to, "a text of " + size, frame(TEXT, size));
            valid(to, "a binary message of " + size, frame(BINARY, size));
        }
        for (int size : List.of(0, 1, 125, 126)) {
            valid(to, "a text of " + size + ", octet by octet", pieces(frame(TEXT, size), 1));
        }
        for (int piece : List.of(997, 4096)) {
            valid(to, "a text of 65536 in pieces of " + piece, pieces(frame(TEXT, 65536), piece));
            valid(to, "a binary message of 65537 in pieces of " + piece,
                    pieces(frame(BINARY, 65537), piece));
        }
        byte[][] many = new byte[500][];
        Arrays.fill(many, frame(TEXT, 16));
        valid(to, "500 texts, each in its write", many);
        valid(to, "500 texts in one write", joined(many));
    }

    private static void control(List<WebSocketCase> to) {
        byte[][] sizes = new byte[126][];
        for (int size = 0; size < sizes.length; size++) {
            sizes[size] = frame(PING, size);
        }
        valid(to, "pings of all sizes", sizes);
        valid(to, "a ping of any octets", frame(PING, new byte[]{0, (byte) 0xff, (byte) 0xfe, 10, 13}));
        valid(to, "a ping of 125, octet by octet", pieces(frame(PING, 125), 1));
        for (int size : List.of(126, 127, 200)) {
            ended(to, "a ping of " + size, 1002, frame(PING, size));
            ended(to, "a pong of " + size, 1002, frame(PONG, size));
        }
        valid(to, "a pong that nobody asked for", frame(PONG, 0));
        valid(to, "a pong with a payload that nobody asked for", frame(PONG, 125), frame(PING, "x"));
        byte[][] ten = new byte[10][];
        for (int i = 0; i < ten.length; i++) {
            ten[i] = frame(PING, "ping " + i);
        }
        valid(to, "ten pings", ten);
        valid(to, "ten pings, octet by octet", pieces(joined(ten), 1));
        for (int first : List.of(0x08, 0x09, 0x0a)) {
            ended(to, "a control frame in fragments, " + first, 1002, frame(first, 2), frame(ENDS, 2));
        }
    }

    private static void reserved(List<WebSocketCase> to) {
        for (int bits = 0x10; bits <= 0x70; bits += 0x10) {
            ended(to, "reserved bits " + bits + " on a text", 1002, frame(TEXT, "a"),
                    frame(TEXT | bits, "b"));
            ended(to, "reserved bits " + bits + " on a ping", 1002, frame(PING | bits, "b"),
                    frame(PING, "c"));
        }
        for (int opcode : List.of(3, 4, 5, 6, 7, 11, 12, 13, 14, 15)) {
            ended(to, "opcode " + opcode, 1002, frame(ENDS | opcode, 0));
            ended(to, "opcode " + opcode + " behind a text", 1002, frame(TEXT, "a"), frame(ENDS | opcode, 5));
        }
    }

    private static void fragments(List<WebSocketCase> to) {
        for (int size : List.of(0, 1, 125, 126, 65535, 65536)) {
            valid(to, "three fragments of " + size, frame(BINARY_BEGINS, size), frame(GOES_ON, size),
                    frame(ENDS, size));
        }
        for (int size : List.of(64, 256, 1024, 4096)) {
            List<byte[]> frames = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                frames.add(frame(i == 0 ? TEXT_BEGINS : i == 31 ? ENDS : GOES_ON, size));
                frames.add(frame(PING, "between " + i));
            }
            valid(to, "32 fragments of " + size + " with pings between", frames.toArray(new byte[0][]));
            valid(to, "the same in pieces of 7, size " + size,
                    pieces(joined(frames.toArray(new byte[0][])), size <= 256 ? 7 : 701));
        }
        valid(to, "a ping between two fragments", frame(TEXT_BEGINS, "a"), frame(PING, "p"),
                frame(ENDS, "b"));
        valid(to, "a pong between two fragments", frame(TEXT_BEGINS, "a"), frame(PONG, "p"),
                frame(ENDS, "b"));
        valid(to, "fragments octet by octet", pieces(joined(frame(TEXT_BEGINS, "frag"), frame(PING, "ping"),
                frame(GOES_ON, "men"), frame(PONG, "pong"), frame(ENDS, "ts")), 1));
        valid(to, "empty fragments around one", frame(TEXT_BEGINS, ""), frame(GOES_ON, "x"),
                frame(ENDS, ""));
        ended(to, "a Close between two fragments", 1000, frame(TEXT_BEGINS, "a"), close(1000, ""),
                frame(ENDS, "b"));
        ended(to, "a continuation of nothing", 1002, frame(ENDS, "a"), frame(TEXT, "b"));
        ended(to, "a continuation of nothing that goes on", 1002, frame(GOES_ON, "a"), frame(TEXT, "b"));
        ended(to, "a continuation behind a whole text", 1002, frame(TEXT, "a"), frame(GOES_ON, "b"));
        ended(to, "a text within another", 1002, frame(TEXT_BEGINS, "a"), frame(TEXT, "b"));
        ended(to, "a text that begins within another", 1002, frame(TEXT_BEGINS, "a"), frame(TEXT_BEGINS, "b"),
                frame(ENDS, "c"));
        ended(to, "binary within a text", 1002, frame(TEXT_BEGINS, "a"), frame(BINARY, "b"));
    }

    private static void utf8(List<WebSocketCase> to) {
        for (String text : List.of("Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\u007f\u0080\u07ff\u0800",
                "\ud7ff\ue000",
                "\ufffd\ufffe\uffff", "\ud800\udc00", "\udbff\udfff", "\0", "日本語", "👩‍🚀")) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            String name = HexFormat.of().formatHex(utf8);
            valid(to, "UTF-8 " + name, frame(TEXT, utf8));
            valid(to, "UTF-8 " + name + ", an octet a frame", eachApart(utf8));
            valid(to, "UTF-8 " + name + ", octet by octet", pieces(frame(TEXT, utf8), 1));
        }
        for (String wrong : List.of("80", "bf", "c0", "c080", "c1bf", "c2", "c241", "e08080", "e0", "e0a0",
                "eda080",
                "edbfbf", "eda080edb080", "f0808080", "f0", "f09080", "f4908080", "f5808080", "f888808080",
                "fe",
                "ff", "cebae1bdb9cf83cebcceb5eda080656469746564", "48656c6c6fff")) {
            byte[] bytes = HexFormat.of().parseHex(wrong);
            ended(to, "not UTF-8 " + wrong, 1007, frame(TEXT, bytes));
            ended(to, "not UTF-8 " + wrong + ", an octet a frame", 1007, eachApart(bytes));
            valid(to, "binary " + wrong, frame(BINARY, bytes));
        }
    }

    /** A text whose frames have an octet each, and a last one that is empty. */
    private static byte[][] eachApart(byte[] utf8) {
        byte[][] frames = new byte[utf8.length + 1][];
        for (int i = 0; i < utf8.length; i++) {
            frames[i] = frame(i == 0 ? TEXT_BEGINS : GOES_ON, new byte[]{utf8[i]});
        }
        frames[utf8.length] = frame(ENDS, 0);
        return frames;
    }

    private static void closing(List<WebSocketCase> to) {
        ended(to, "a Close at once", 1000, BYE);
        ended(to, "a Close without a code", 1005, frame(CLOSE, 0));
        ended(to, "a Close of one octet", 1002, frame(CLOSE, 1));
        for (int code : List.of(1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000,
                4999)) {
            ended(to, "a Close with " + code, code, close(code, "done"));
        }
        for (int code : List.of(0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999)) {
            ended(to, "a Close with " + code, 1006, close(code, ""));
        }
        ended(to, "a Close with the longest reason", 1000, close(1000, "r".repeat(123)));
        ended(to, "a Close with a reason too long", 1002, close(1000, "r".repeat(124)));
        ended(to, "a Close whose reason is not UTF-8", 1006,
                frame(CLOSE, HexFormat.of().parseHex("03e8cebae1bdb9cf83cebcceb5eda080")));
        ended(to, "a text behind a Close", 1000, frame(TEXT, "a"), BYE, frame(TEXT, "b"));
        ended(to, "a ping behind a Close", 1000, BYE, frame(PING, "b"));
        ended(to, "two Closes", 1000, BYE, close(1001, ""));
        valid(to, "a message, then the Close", frame(TEXT, 262144));
        to.add(new WebSocketCase("a Close octet by octet", List.of(pieces(close(4000, "bye"), 1)), 4000));
    }
}

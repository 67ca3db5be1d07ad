package dev.culvert.e2e.hostile;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes an HPACK block octet by octet (RFC 7541 §6), so that a test decides which bytes stand for which fields. */
final class HeadBlock {
    private static final int INDEXED = 0x80;
    private static final int ADDED = 0x40;
    /** The first index of the dynamic table: the field that was added last. */
    private static final int NEWEST = 62;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** A field that enters no table. */
    HeadBlock field(String name, String value) {
        bytes.write(0);
        return text(name).text(value);
    }

    /** A field that enters the dynamic table, as its newest. */
    HeadBlock added(String name, String value) {
        bytes.write(ADDED);
        return text(name).text(value);
    }

    /** The newest field of the dynamic table, {@code times} times: an octet each. */
    HeadBlock newest(int times) {
        for (int i = 0; i < times; i++) {
            bytes.write(INDEXED | NEWEST);
        }
        return this;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** The pseudo-fields of a request over TLS. */
    static HeadBlock request(String method, String host, String path) {
        return new HeadBlock().field(":method", method)
                .field(":scheme", "https")
                .field(":authority", host)
                .field(":path", path);
    }

    private HeadBlock text(String text) {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        length(octets.length);
        bytes.writeBytes(octets);
        return this;
    }

    /** RFC 7541 §5.1 with a prefix of 7 bits, and no Huffman code. */
    private void length(int length) {
        if (length < 127) {
            bytes.write(length);
            return;
        }
        bytes.write(127);
        int left = length - 127;
        for (; left > 127; left >>= 7) {
            bytes.write(left & 127 | 128);
        }
        bytes.write(left);
    }
}

package dev.culvert.e2e;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Frames of RFC 6455 §5.2, written octet by octet, so that a test may write wrong ones. */
final class WebSocketBytes {
    /** First octets: FIN and the opcode. */
    static final int TEXT = 0x81;
    static final int BINARY = 0x82;
    static final int TEXT_BEGINS = 0x01;
    static final int BINARY_BEGINS = 0x02;
    static final int GOES_ON = 0x00;
    static final int ENDS = 0x80;
    static final int CLOSE = 0x88;
    static final int PING = 0x89;
    static final int PONG = 0x8a;
    /** What a deflated message's first frame has beside (RFC 7692 §6). */
    static final int DEFLATED = 0x40;
    private static final int MASKED = 0x80;
    private static final byte[] KEY = {0x37, (byte) 0xfa, 0x21, 0x3d};

    private WebSocketBytes() {}

    /** What a client writes in front of its first frame; {@code fields} are lines. */
    static byte[] handshake(String host, String path, String... fields) {
        String more = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
        return ("GET " + path + " HTTP/1.1\r\nHost: " + host
                + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + more
                + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** A client's frame: masked. */
    static byte[] frame(int first, byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(14 + payload.length);
        frame.put(header(first, payload.length, true)).put(KEY);
        for (int i = 0; i < payload.length; i++) {
            frame.put((byte) (payload[i] ^ KEY[i & 3]));
        }
        return Arrays.copyOf(frame.array(), frame.position());
    }

    static byte[] frame(int first, String text) {
        return frame(first, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] frame(int first, int length) {
        byte[] payload = new byte[length];
        Arrays.fill(payload, (byte) '*');
        return frame(first, payload);
    }

    static byte[] close(int code, String reason) {
        byte[] words = reason.getBytes(StandardCharsets.UTF_8);
        return frame(CLOSE,
                ByteBuffer.allocate(2 + words.length).putShort((short) code).put(words).array());
    }

    /** First octet and length, without a key. */
    static byte[] header(int first, long length, boolean masked) {
        int mask = masked ? MASKED : 0;
        ByteBuffer header = ByteBuffer.allocate(10).put((byte) first);
        if (length < 126) {
            header.put((byte) (mask | length));
        } else if (length < 1 << 16) {
            header.put((byte) (mask | 126)).putShort((short) length);
        } else {
            header.put((byte) (mask | 127)).putLong(length);
        }
        return Arrays.copyOf(header.array(), header.position());
    }

    /** The key that every masked frame has here: each begins at a payload's first octet. */
    static byte[] key() {
        return KEY.clone();
    }

    /** Reads what {@link #header} wrote but for its first octet. */
    static long length(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte() & ~MASKED;
        return length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
    }

    /** Reads the head of an answer. */
    static String head(InputStream in) throws IOException {
        var head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int c = in.read();
            if (c < 0) {
                throw new IOException("ended in its head: " + head.toString(StandardCharsets.ISO_8859_1));
            }
            head.write(c);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    /** The code of a server's Close frame at the end of {@code received}; 1005 for one without, 1006 for none. */
    static int closeCode(byte[] received) {
        ByteBuffer in = ByteBuffer.wrap(received);
        while (in.remaining() >= 2) {
            int first = in.get() & 0xff;
            int length = in.get() & 0x7f;
            long payload = length == 126
                    ? in.getShort() & 0xffff
                    : length == 127 ? in.getLong() : length;
            if (first == CLOSE) {
                return payload >= 2 ? in.getShort() & 0xffff : 1005;
            }
            in.position(in.position() + (int) payload);
        }
        return 1006;
    }
}

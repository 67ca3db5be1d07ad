package dev.culvert.relay.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Follows the frames (RFC 6455 §5.2) in one direction of a WebSocket, to know where a frame of ours may stand. */
public final class WebSocketBoundary {
    /** RFC 6455 §5.5.1, §7.4.1: Close, not masked, 1001. */
    private static final byte[] GOING_AWAY = {(byte) 0x88, 2, 0x03, (byte) 0xe9};
    private static final int LENGTH_16 = 126;
    private static final int LENGTH_64 = 127;
    private static final int MASKED = 0x80;

    /** Bytes of the header seen so far, of those that are known to make it up. */
    private int headerSeen;
    private int headerBytes = 2;
    private int lengthBytes;
    private int maskBytes;
    private long payload;

    /** Passes bytes by; neither consumes nor changes them. */
    void pass(ByteBuf bytes) {
        int index = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (index < end) {
            if (headerSeen == headerBytes) {
                int some = (int) Math.min(payload, end - index);
                payload -= some;
                index += some;
            } else {
                header(bytes.getUnsignedByte(index++));
            }
            if (headerSeen == headerBytes && payload == 0) {
                headerSeen = 0;
                headerBytes = 2;
                lengthBytes = 0;
            }
        }
    }

    private void header(int octet) {
        headerSeen++;
        if (headerSeen == 2) {
            int length = octet & ~MASKED;
            lengthBytes = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
            maskBytes = (octet & MASKED) == 0 ? 0 : 4;
            payload = lengthBytes == 0 ? length : 0;
            headerBytes = 2 + lengthBytes + maskBytes;
        } else if (headerSeen > 2 && headerSeen <= 2 + lengthBytes) {
            payload = payload << 8 | octet;
            if (payload < 0) {
                payload = Long.MAX_VALUE; // RFC 6455 §5.2 forbids such a length: no frame ever follows
            }
        }
    }

    /** A server's Close frame that says that it goes away. The caller's to release. */
    public static ByteBuf goingAway() {
        return Unpooled.wrappedBuffer(GOING_AWAY);
    }

    /** Whether the last frame is complete. */
    boolean isReached() {
        return headerSeen == 0;
    }
}

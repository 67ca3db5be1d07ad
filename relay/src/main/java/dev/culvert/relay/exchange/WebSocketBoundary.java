package dev.culvert.relay.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Tracks the frames (RFC 6455 §5.2) in one direction of a WebSocket, to find positions at which the gateway
 * may insert a frame.
 */
public final class WebSocketBoundary {
    /** An unmasked Close frame with code 1001 (RFC 6455 §5.5.1, §7.4.1). */
    private static final byte[] GOING_AWAY = {(byte) 0x88, 2, 0x03, (byte) 0xe9};
    private static final int LENGTH_16 = 126;
    private static final int LENGTH_64 = 127;
    private static final int MASKED = 0x80;

    /** The number of header bytes read so far, and the known length of the header. */
    private int headerSeen;
    private int headerBytes = 2;
    private int lengthBytes;
    private int maskBytes;
    private long payload;

    /** Tracks bytes without consuming or changing them. */
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
                payload = Long.MAX_VALUE; // RFC 6455 §5.2 forbids such a length, so no frame ever follows
            }
        }
    }

    /** Returns the Close frame of a server that goes away. The caller must release it. */
    public static ByteBuf goingAway() {
        return Unpooled.wrappedBuffer(GOING_AWAY);
    }

    /** Whether the last frame is complete. */
    boolean isReached() {
        return headerSeen == 0;
    }
}

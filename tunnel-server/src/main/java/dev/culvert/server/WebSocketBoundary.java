package dev.culvert.server;

import io.netty.buffer.ByteBuf;

/** Follows the frames (RFC 6455 §5.2) in one direction of a WebSocket, to know where a frame of ours may stand. */
final class WebSocketBoundary {
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
        }
    }

    /** Whether the last frame is complete. */
    boolean isReached() {
        return headerSeen == 0;
    }
}

package dev.culvert.relay.listen;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Collects the first bytes of a connection until its ClientHello is complete, in any fragmentation into TLS
 * records and packets. Keeps every received byte unchanged, so that it can be passed on. Reads each byte
 * once. Belongs to the connection's event loop.
 */
public final class ClientHelloReader {
    /**
     * The maximum length of the message, in bytes. Browsers send up to 2 KiB; session tickets and key shares
     * may make it longer.
     */
    static final int MAX_HELLO = 16 << 10;
    /**
     * The maximum number of bytes with all record headers. Smaller records, which would exceed it, are an
     * attack.
     */
    static final int MAX_BYTES = 2 * MAX_HELLO;

    /** The heap bytes of this object, its two buffers, and the connection's other objects while it waits. */
    private static final int OBJECTS = 512;
    private static final int HANDSHAKE = 22;
    private static final int CLIENT_HELLO = 1;
    private static final int RECORD_HEAD = 5;
    private static final int MESSAGE_HEAD = 4;
    /** RFC 8446 §5.1. */
    private static final int MAX_RECORD = 16 << 10;

    private ByteBuf received;
    private final ByteBuf message = Unpooled.buffer(512);
    /** The index in {@code received} at which parsing continues. */
    private int at;
    private int leftOfRecord;

    public ClientHelloReader(ByteBufAllocator allocator) {
        received = allocator.buffer(1024);
    }

    /**
     * Adds received bytes and takes ownership of them. Returns true if the hello is complete.
     *
     * @throws EdgeException if the bytes cannot become a ClientHello
     */
    public boolean take(ByteBuf bytes) {
        try {
            received.writeBytes(bytes);
        } finally {
            bytes.release();
        }
        while (!isWhole() && nextRecord()) {
            int part = Math.min(leftOfRecord, received.writerIndex() - at);
            if (part == 0) {
                break;
            }
            message.writeBytes(received, at, part);
            at += part;
            leftOfRecord -= part;
        }
        if (isWhole()) {
            return true;
        }
        if (received.readableBytes() > MAX_BYTES) {
            throw tooLong();
        }
        return false;
    }

    /**
     * Moves to the next record if the present one is used up. Returns false if the record's header is not
     * complete.
     */
    private boolean nextRecord() {
        if (leftOfRecord > 0) {
            return true;
        }
        int there = received.writerIndex() - at;
        require(there < 1 || received.getUnsignedByte(at) == HANDSHAKE);
        require(there < 2 || received.getUnsignedByte(at + 1) == 3);
        if (there < RECORD_HEAD) {
            return false;
        }
        leftOfRecord = received.getUnsignedShort(at + 3);
        // RFC 8446 §5.1: handshake records are not empty
        require(leftOfRecord > 0 && leftOfRecord <= MAX_RECORD);
        at += RECORD_HEAD;
        return true;
    }

    private boolean isWhole() {
        require(!message.isReadable() || message.getUnsignedByte(0) == CLIENT_HELLO);
        if (message.readableBytes() < MESSAGE_HEAD) {
            return false;
        }
        int length = message.getUnsignedMedium(1);
        if (length > MAX_HELLO) {
            throw tooLong();
        }
        return message.readableBytes() >= MESSAGE_HEAD + length;
    }

    /**
     * Returns the server name of the complete hello; null: it names none.
     *
     * @throws EdgeException if the hello is malformed
     */
    @Nullable
    public String serverName() {
        return ClientHello.serverName(message.slice(MESSAGE_HEAD, message.getUnsignedMedium(1)));
    }

    /** Returns all received bytes. The caller owns them. */
    public ByteBuf bytes() {
        ByteBuf all = received;
        received = Unpooled.EMPTY_BUFFER;
        return all;
    }

    /**
     * Returns the bytes that this reader occupies, with its objects and the unused capacity of its buffers.
     */
    int cost() {
        return OBJECTS + received.capacity() + message.capacity();
    }

    /** Releases the received bytes. */
    public void release() {
        bytes().release();
    }

    private static void require(boolean valid) {
        if (!valid) {
            throw new EdgeException(ClientHello.malformed());
        }
    }

    private static EdgeException tooLong() {
        return new EdgeException(
                Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE, "the ClientHello is too long"));
    }
}

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
 * Collects the first bytes of a connection until its ClientHello is whole, however TLS records and packets cut it. Keeps
 * every byte as it came, to be passed on. Each byte is looked at once. Belongs to the connection's event loop.
 */
public final class ClientHelloReader {
    /** Of the message. Browsers send up to 2 KiB; tickets and key shares may make it longer. */
    static final int MAX_HELLO = 16 << 10;
    /** With the heads of its records: shorter ones than this allows for are an attack. */
    static final int MAX_BYTES = 2 * MAX_HELLO;

    /** This, two buffers, and what its connection keeps beside them while it waits. */
    private static final int OBJECTS = 512;
    private static final int HANDSHAKE = 22;
    private static final int CLIENT_HELLO = 1;
    private static final int RECORD_HEAD = 5;
    private static final int MESSAGE_HEAD = 4;
    /** RFC 8446 §5.1. */
    private static final int MAX_RECORD = 16 << 10;

    private ByteBuf received;
    private final ByteBuf message = Unpooled.buffer(512);
    /** Where in {@code received} to go on. */
    private int at;
    private int leftOfRecord;

    public ClientHelloReader(ByteBufAllocator allocator) {
        received = allocator.buffer(1024);
    }

    /**
     * Takes ownership of {@code bytes}. True: the hello is whole.
     *
     * @throws EdgeException when it can't become one
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

    /** Whether a record has begun. */
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
        require(leftOfRecord > 0 && leftOfRecord <= MAX_RECORD); // RFC 8446 §5.1: none of a handshake is empty
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
     * The server name that the whole hello asks for; null: none.
     *
     * @throws EdgeException when it is malformed
     */
    @Nullable
    public String serverName() {
        return ClientHello.serverName(message.slice(MESSAGE_HEAD, message.getUnsignedMedium(1)));
    }

    /** All bytes as they came; the caller owns them. */
    public ByteBuf bytes() {
        ByteBuf all = received;
        received = Unpooled.EMPTY_BUFFER;
        return all;
    }

    /** What all of this takes up, in bytes: with its objects, and with room that nothing stands in yet. */
    int cost() {
        return OBJECTS + received.capacity() + message.capacity();
    }

    /** Drops what was kept. */
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

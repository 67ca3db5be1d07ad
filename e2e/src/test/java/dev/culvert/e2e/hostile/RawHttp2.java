package dev.culvert.e2e.hostile;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;

/**
 * A caller of the edge that writes the frames of HTTP/2 itself: any type, size and order. It answers SETTINGS and reads
 * everything else away, without giving windows. Blocks.
 */
final class RawHttp2 implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    private static final int ACK = 1;
    private static final int HEADER_BYTES = 9;
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            .getBytes(StandardCharsets.US_ASCII);

    private final SSLSocket socket;
    private final OutputStream out;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Queue<Integer> over = new ConcurrentLinkedQueue<>();
    private int nextStream = 1;

    private RawHttp2(SSLSocket socket) throws IOException {
        this.socket = socket;
        out = socket.getOutputStream();
        out.write(PREFACE);
        frame(SETTINGS, 0, 0, new byte[0]);
        Thread.ofVirtual().start(this::read);
    }

    static RawHttp2 connect(Target target, String source, String host) throws IOException {
        return new RawHttp2(Tls.connect(source, target.edge(), host, "h2"));
    }

    /** Opens a stream with a head. Returns its id. */
    synchronized int open(HeadBlock head, boolean last) throws IOException {
        int stream = nextStream;
        nextStream += 2;
        frame(HEADERS, END_HEADERS | (last ? END_STREAM : 0), stream, head.bytes());
        return stream;
    }

    /** Writes a frame. */
    synchronized void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.write(bytes(type, flags, stream, payload));
    }

    /** Writes bytes that may be any number of frames. */
    synchronized void write(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    /** A frame's octets. */
    static byte[] bytes(int type, int flags, int stream, byte[] payload) {
        return ByteBuffer.allocate(HEADER_BYTES + payload.length)
                .put((byte) (payload.length >> 16))
                .putShort((short) payload.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    private void read() {
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                in.skipNBytes(length);
                if (type == RST_STREAM || (flags & END_STREAM) != 0 && type <= HEADERS) {
                    over.add(stream);
                }
                if (type == SETTINGS && (flags & ACK) == 0) {
                    frame(SETTINGS, ACK, 0, new byte[0]);
                }
            }
        } catch (IOException e) {
            ended.countDown(); // the server has closed, which is its right
        }
    }

    /** The streams that the server has ended since the last call. */
    Set<Integer> ended() {
        Set<Integer> streams = new HashSet<>();
        for (Integer stream = over.poll(); stream != null; stream = over.poll()) {
            streams.add(stream);
        }
        return streams;
    }

    /** Throws if the server has closed. */
    void requireOpen() throws IOException {
        if (ended.getCount() == 0) {
            throw new IOException("closed");
        }
    }

    /** Waits until the server has closed. Returns false when it has not in time. */
    boolean awaitEnd() throws InterruptedException {
        return ended.await(Tls.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() throws IOException {
        Tls.hangUp(socket);
    }
}

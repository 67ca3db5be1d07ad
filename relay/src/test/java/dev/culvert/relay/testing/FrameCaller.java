package dev.culvert.relay.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** A caller that speaks HTTP/2 frame by frame (RFC 9113 §4.1), and may say what it likes. Blocking. */
public final class FrameCaller implements AutoCloseable {
    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int PRIORITY = 2;
    public static final int RST_STREAM = 3;
    public static final int SETTINGS = 4;
    public static final int PING = 6;
    public static final int GOAWAY = 7;
    public static final int WINDOW_UPDATE = 8;
    public static final int CONTINUATION = 9;
    public static final int END_STREAM = 1;
    private static final int ACK = 1;
    public static final int END_HEADERS = 4;
    private static final int HEADER_BYTES = 9;
    /** RFC 9113 §6.5.2: the first limit. */
    private static final int MAX_FRAME = 16 << 10;

    private final TlsCaller socket;
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);

    /**
     * A frame that came.
     *
     * @param payload a character each octet
     */
    public record Frame(int type, int flags, int stream, String payload) {
        public boolean ended() {
            return (flags & END_STREAM) != 0;
        }

        public ByteBuf bytes() {
            return Unpooled.copiedBuffer(payload, StandardCharsets.ISO_8859_1);
        }

        /** Four octets, as RST_STREAM's and WINDOW_UPDATE's, or GOAWAY's second four. */
        public int number() {
            return bytes().getInt(type == GOAWAY ? 4 : 0);
        }
    }

    /** Connects, says hello with its own settings, which are none, and accepts the edge's. */
    public FrameCaller(int port) {
        socket = new TlsCaller(port, null, "h2");
        socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        send(SETTINGS, 0, 0, new byte[0]);
        next(SETTINGS, 0);
        send(SETTINGS, ACK, 0, new byte[0]);
    }

    public String protocol() {
        return socket.protocol();
    }

    public FrameCaller send(int type, int flags, int stream, byte[] payload) {
        ByteBuf frame = Unpooled.buffer(HEADER_BYTES + payload.length)
                .writeMedium(payload.length)
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload);
        socket.send(ByteBufUtil.getBytes(frame));
        return this;
    }

    /** Sends a frame whose payload breaks off after some bytes. */
    public FrameCaller begin(int type, int flags, int stream, byte[] payload, int bytes) {
        ByteBuf frame = Unpooled.buffer(HEADER_BYTES + bytes)
                .writeMedium(payload.length)
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload, 0, bytes);
        socket.send(ByteBufUtil.getBytes(frame));
        return this;
    }

    public FrameCaller number(int type, int stream, int number) {
        return send(type, 0, stream, ByteBufUtil.getBytes(Unpooled.copyInt(number)));
    }

    public FrameCaller data(int stream, String text, boolean ended) {
        return send(DATA, ended ? END_STREAM : 0, stream, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** A body's bytes, each in a frame of its own. */
    public FrameCaller singleBytes(int stream, int count) {
        ByteBuf frames = Unpooled.buffer(count * (HEADER_BYTES + 1));
        for (int i = 0; i < count; i++) {
            frames.writeMedium(1).writeByte(DATA).writeByte(0).writeInt(stream).writeByte('a' + i % 26);
        }
        socket.send(ByteBufUtil.getBytes(frames));
        return this;
    }

    /** A GET of the runtime's host. */
    public FrameCaller get(int stream, String path) {
        return head(stream, true, request("GET", path));
    }

    public static Http2Headers request(String method, String path, String... more) {
        Http2Headers head = new DefaultHttp2Headers(false, 8).method(method)
                .scheme("https")
                .authority(EdgeFixture.HOST)
                .path(path);
        for (int i = 0; i < more.length; i += 2) {
            head.add(more[i], more[i + 1]);
        }
        return head;
    }

    /** In one frame, or with CONTINUATION frames behind it. */
    public FrameCaller head(int stream, boolean ended, Http2Headers head) {
        ByteBuf block = Unpooled.wrappedBuffer(block(stream, head));
        int type = HEADERS;
        int flags = ended ? END_STREAM : 0;
        do {
            byte[] part = ByteBufUtil.getBytes(block.readSlice(Math.min(MAX_FRAME, block.readableBytes())));
            send(type, flags | (block.isReadable() ? 0 : END_HEADERS), stream, part);
            type = CONTINUATION;
            flags = 0;
        } while (block.isReadable());
        return this;
    }

    public byte[] block(int stream, Http2Headers head) {
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.encodeHeaders(stream, head, block);
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(e);
        }
        return ByteBufUtil.getBytes(block);
    }

    /** The next frame. */
    public Frame next() {
        ByteBuf header = Unpooled.copiedBuffer(socket.read(HEADER_BYTES), StandardCharsets.ISO_8859_1);
        int length = header.readUnsignedMedium();
        return new Frame(header.readUnsignedByte(), header.readUnsignedByte(), header.readInt(),
                socket.read(length));
    }

    /** The next frame of this kind; what comes before it is dropped. */
    public Frame next(Predicate<Frame> wanted) {
        Frame frame = next();
        while (!wanted.test(frame)) {
            frame = next();
        }
        return frame;
    }

    public Frame next(int type, int stream) {
        return next(frame -> frame.type == type && frame.stream == stream);
    }

    /** The next head of a stream. */
    public Http2Headers head(int stream) {
        Frame frame = next(HEADERS, stream);
        assertThat(frame.flags & END_HEADERS).isNotZero();
        try {
            return decoder.decodeHeaders(stream, frame.bytes());
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** The body of a stream, to its end. */
    public String body(int stream) {
        var text = new StringBuilder();
        Frame frame = next(DATA, stream);
        text.append(frame.payload);
        while (!frame.ended()) {
            frame = next(DATA, stream);
            text.append(frame.payload);
        }
        return text.toString();
    }

    /** Whether the connection ends behind what is still to be read. */
    public boolean ends() {
        return socket.readAll().isEmpty();
    }

    /** Leaves with a reset. */
    public void reset() {
        socket.reset();
    }

    @Override
    public void close() {
        encoder.close();
        socket.close();
    }
}

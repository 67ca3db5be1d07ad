package dev.culvert.e2e.hostile;

import dev.culvert.certs.TlsMaterial;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.Hello.Nonce;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/** The server's end of {@code culvert.v1} by hand: it keeps the rules as long as its owner wants, then writes any bytes. Blocks. */
final class RawServer implements AutoCloseable {
    static final Hello.Limits LIMITS = new Hello.Limits(100_000, 1 << 20, 10_000, 4096, 256 << 10, 16 << 20);
    static final Nonce NONCE = new Nonce(1, 2, 3, 4);
    private static final String ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final Pattern KEY = Pattern.compile("(?i)sec-websocket-key: *(\\S+)");
    private static final int BINARY = 0x82;
    private static final int CLOSE = 0x88;

    private final SSLServerSocket listener;

    private RawServer(SSLServerSocket listener) {
        this.listener = listener;
    }

    static RawServer start(TlsMaterial certificate) throws IOException {
        var listener = (SSLServerSocket) Tls.context(certificate)
                .getServerSocketFactory()
                .createServerSocket(0, 8, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(Tls.PATIENCE_MILLIS);
        return new RawServer(listener);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** The next connection of the client, upgraded to a WebSocket. */
    Peer accept() throws IOException {
        return new Peer((SSLSocket) listener.accept());
    }

    /** The same, with a session that has been opened by the rules. */
    Peer open(Hello.Limits limits) throws IOException {
        Peer peer = accept();
        peer.hello(Hello.AUTH | Hello.ANNOUNCE | Hello.TCP, limits);
        peer.await(frame -> frame instanceof Frame.OpeningHello);
        peer.ready();
        return peer;
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    /** A client's connection. */
    static final class Peer implements AutoCloseable {
        private final SSLSocket socket;
        private final OutputStream out;
        private final DataInputStream in;
        private ByteBuf message = Unpooled.EMPTY_BUFFER;

        Peer(SSLSocket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(Tls.PATIENCE_MILLIS);
            out = socket.getOutputStream();
            in = new DataInputStream(socket.getInputStream());
            Matcher key = KEY.matcher(RawHttp1.head(in));
            if (!key.find()) {
                throw new IOException("no key of a WebSocket");
            }
            out.write(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Protocol: culvert.v1\r\nSec-WebSocket-Accept: "
                    + accepted(key.group(1)) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        }

        private static String accepted(String key) {
            try {
                return Base64.getEncoder()
                        .encodeToString(MessageDigest.getInstance("SHA-1")
                                .digest((key + ACCEPT).getBytes(StandardCharsets.US_ASCII)));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        void hello(long capabilities, Hello.Limits limits) throws IOException {
            send(new Frame.OpeningHello(
                    new Hello(1, 1, capabilities, 7, 7, 0, false, limits, NONCE, "raw")));
        }

        void ready() throws IOException {
            send(new Frame.Ready(7, 7, 1, "mallory/prod", "mallory-prod." + Target.DOMAIN));
        }

        /** Opens a stream with any head. */
        void open(int stream, HeadBlock head, boolean last) throws IOException {
            send(new Frame.Head(stream,
                    FrameCodec.HEAD_OPENS | FrameCodec.HEAD_LAST | (last ? FrameCodec.END : 0),
                    StreamKind.HTTP, HeadOptions.NONE, Unpooled.wrappedBuffer(head.bytes())));
        }

        void send(Frame frame) throws IOException {
            ByteBuf frames = Unpooled.buffer();
            FrameCodec.encode(frame, frames);
            message(BINARY, ByteBufUtil.getBytes(frames));
        }

        /** Writes bytes as one message, of any type and length. */
        void message(int type, byte[] bytes) throws IOException {
            ByteBuffer message = ByteBuffer.allocate(bytes.length + 10).put((byte) type);
            if (bytes.length < 126) {
                message.put((byte) bytes.length);
            } else if (bytes.length <= 0xffff) {
                message.put((byte) 126).putShort((short) bytes.length);
            } else {
                message.put((byte) 127).putLong(bytes.length);
            }
            message.put(bytes);
            out.write(message.array(), 0, message.position());
        }

        /** The next frame that is wanted; others are dropped, heartbeats answered. Throws IOException when the client closes. */
        Frame await(Predicate<Frame> wanted) throws IOException {
            while (true) {
                Frame frame = next();
                if (wanted.test(frame)) {
                    return frame;
                }
                if (frame instanceof Frame.Ping(long opaque, boolean ack) && !ack) {
                    send(new Frame.Ping(opaque, true));
                }
            }
        }

        /** The next frame. Its buffers are on the heap: nobody need release them. */
        private Frame next() throws IOException {
            while (!message.isReadable()) {
                read();
            }
            return FrameCodec.decode(message);
        }

        private void read() throws IOException {
            int type = in.readUnsignedByte();
            int length = in.readUnsignedByte() & 0x7f;
            if (length == 126) {
                length = in.readUnsignedShort();
            }
            int mask = in.readInt();
            byte[] bytes = in.readNBytes(length);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] ^= (byte) (mask >>> 8 * (3 - i % 4));
            }
            if (type == CLOSE) {
                throw new IOException("closed");
            }
            message = type == BINARY ? Unpooled.wrappedBuffer(bytes) : Unpooled.EMPTY_BUFFER;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}

package dev.culvert.e2e.hostile;

import dev.culvert.certs.KeyProof;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.Hello.Nonce;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A client's end of a {@code culvert.v1} session that keeps the rules while it opens, and then writes whatever bytes it
 * likes. It answers heartbeats, gives no windows, and hands every other frame to its owner. DATA frames wait for
 * the session's window, as every client's must; a stream's is for its owner to keep. Blocks.
 */
final class RawTunnel implements AutoCloseable {
    /** Held requests are many: no limit of this side shall bound them. */
    private static final Hello.Limits LIMITS = new Hello.Limits(100_000, 1 << 20, 10_000, 4096, 256 << 10,
            16 << 20);
    private static final int BINARY = 0x82;
    private static final int MASKED = 0x80;

    /** Of all clients of a process: none takes over from another. */
    private static final long INSTANCE = new SecureRandom().nextLong();

    private final SSLSocket socket;
    private final OutputStream out;
    private final DataInputStream in;
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    /** The bytes of DATA that the server takes before it grants more. */
    private final Semaphore sessionWindow = new Semaphore(0);

    private RawTunnel(SSLSocket socket) throws IOException {
        this.socket = socket;
        out = socket.getOutputStream();
        in = new DataInputStream(socket.getInputStream());
    }

    /** Opens a session of the identity's runtime, proven by TLS. */
    static RawTunnel open(Target target, String source, TlsMaterial identity) throws IOException {
        var tunnel = new RawTunnel(
                Tls.connect(Tls.context(identity), source, target.tunnel(), "localhost", "http/1.1"));
        return tunnel.opened(() -> {
            tunnel.upgrade();
            tunnel.hello(tunnel.await(Frame.OpeningHello.class).hello(), null, "");
        });
    }

    /** Opens a session of another instance, which waits while one serves. */
    static RawTunnel waiting(Target target, String source, TlsMaterial identity, int priority)
            throws IOException {
        var tunnel = new RawTunnel(
                Tls.connect(Tls.context(identity), source, target.tunnel(), "localhost", "http/1.1"));
        return tunnel.opened(() -> {
            tunnel.upgrade();
            tunnel.await(Frame.OpeningHello.class);
            var random = ThreadLocalRandom.current();
            ByteBuf frames = Unpooled.buffer();
            FrameCodec.encode(new Frame.OpeningHello(new Hello(Hello.VERSION, Hello.VERSION, Hello.STANDBY,
                    random.nextLong(), random.nextLong(), 0, false, LIMITS, new Nonce(1, 2, 3, 4), "raw",
                    priority)), frames);
            tunnel.send(frames);
        }, Frame.Wait.class);
    }

    /** Opens one proven in its first frames, to the server as {@code host}. */
    static RawTunnel prove(Target target, String source, TlsMaterial identity, String host)
            throws IOException {
        RawTunnel tunnel = promise(target, source);
        return tunnel.opened(
                () -> tunnel.hello(tunnel.await(Frame.OpeningHello.class).hello(), identity, host));
    }

    /** Upgrades, promises a proof, and says no more. */
    static RawTunnel promise(Target target, String source) throws IOException {
        var tunnel = new RawTunnel(Tls.connect(source, target.tunnel(), "localhost", "http/1.1"));
        try {
            tunnel.upgrade("culvert-proof: opening");
            return tunnel;
        } catch (IOException e) {
            tunnel.close();
            throw e;
        }
    }

    private interface Opening {
        void run() throws IOException;
    }

    private RawTunnel opened(Opening opening) throws IOException {
        return opened(opening, Frame.Ready.class);
    }

    private RawTunnel opened(Opening opening, Class<? extends Frame> answer) throws IOException {
        try {
            socket.setSoTimeout(Tls.PATIENCE_MILLIS);
            opening.run();
            await(answer);
            socket.setSoTimeout(0);
            return this;
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void upgrade(String... fields) throws IOException {
        String more = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
        out.write(("GET /tunnel/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                + "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Sec-WebSocket-Protocol: culvert.v1\r\n" + more + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        String head = RawHttp1.head(in);
        if (!head.startsWith("HTTP/1.1 101")) {
            throw new IOException(head.lines().findFirst().orElse(""));
        }
    }

    private void hello(Hello servers, @Nullable TlsMaterial identity, String host) throws IOException {
        var random = ThreadLocalRandom.current();
        var nonce = new Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
        sessionWindow.release(servers.limits().sessionWindow());
        ByteBuf frames = Unpooled.buffer();
        FrameCodec.encode(new Frame.OpeningHello(new Hello(Hello.VERSION, Hello.VERSION,
                Hello.AUTH | Hello.ANNOUNCE | Hello.TCP | Hello.PROOF, INSTANCE, INSTANCE, 0, true, LIMITS,
                nonce, "raw")), frames);
        if (identity != null) {
            byte[] certificate = der(identity);
            FrameCodec.encode(new Frame.Auth(certificate,
                    KeyProof.opening(servers.nonce().bytes(), nonce.bytes(), certificate, host)
                            .sign(identity.key())),
                    frames);
        }
        send(frames);
    }

    private static byte[] der(TlsMaterial identity) {
        try {
            return identity.leaf().getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    private <F extends Frame> F await(Class<F> type) throws IOException {
        while (true) {
            ByteBuf message = message();
            while (message.isReadable()) {
                Frame frame = FrameCodec.decode(message);
                if (type.isInstance(frame)) {
                    return type.cast(frame);
                }
                if (frame instanceof Frame.GoAway away) {
                    throw new IOException(away.code() + " " + away.detail());
                }
            }
        }
    }

    /** Announces durable webhooks of all names, and reads on a thread of its own: what is no heartbeat goes to {@code frames}. */
    RawTunnel serving(Consumer<Frame> frames) throws IOException {
        String document = """
                {"routes":[{"path":"/webhooks/{namespace}/{eventSource}/","to":"{eventSource}.{namespace}","durable":true,"order":"source","maxBodyBytes":1048576}],\
                "webhooks":["argo/*"],"requests":{"allow":[],"deny":[]}}""";
        send(new Frame.Announce(document.getBytes(StandardCharsets.UTF_8), true));
        return reading(frames);
    }

    /** Reads on a thread of its own: what is no heartbeat goes to {@code frames}. */
    RawTunnel reading(Consumer<Frame> frames) {
        Thread.ofVirtual().start(() -> read(frames));
        return this;
    }

    private void read(Consumer<Frame> frames) {
        String reason = "";
        try {
            while (true) {
                ByteBuf message = message();
                while (message.isReadable()) {
                    Frame frame = FrameCodec.decode(message);
                    if (frame instanceof Frame.Ping(long opaque, boolean ack)) {
                        if (!ack) {
                            send(new Frame.Ping(opaque, true));
                        }
                    } else if (frame instanceof Frame.Grant(int stream, int bytes) && stream == 0) {
                        sessionWindow.release(bytes);
                    } else {
                        if (frame instanceof Frame.GoAway away) {
                            reason = away.code().name();
                        }
                        frames.accept(frame);
                    }
                }
            }
        } catch (IOException e) {
            ended.complete(reason); // the server has closed, which is its right
        }
    }

    /** Waits until the server has closed. Returns its last GOAWAY's code; empty: it said none. */
    String end() throws IOException {
        try {
            return ended.get(Tls.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IOException("the server has not closed", e);
        }
    }

    boolean isEnded() {
        return ended.isDone();
    }

    /** The next binary message; others are skipped. */
    private ByteBuf message() throws IOException {
        while (true) {
            int first = in.readUnsignedByte();
            int length = in.readUnsignedByte();
            if (length == 126) {
                length = in.readUnsignedShort();
            }
            byte[] payload = in.readNBytes(length);
            if (payload.length < length) {
                throw new IOException("closed within a message");
            }
            if (first == BINARY) {
                return Unpooled.wrappedBuffer(payload);
            }
            if (first == 0x88) {
                throw new IOException("closed");
            }
        }
    }

    void send(Frame frame) throws IOException {
        if (frame instanceof Frame.Data data) {
            awaitWindow(data.body().readableBytes());
        }
        ByteBuf frames = Unpooled.buffer();
        FrameCodec.encode(frame, frames);
        send(frames);
    }

    private void awaitWindow(int bytes) throws IOException {
        try {
            while (!sessionWindow.tryAcquire(bytes, 1, TimeUnit.SECONDS)) {
                if (isEnded()) {
                    throw new IOException("closed");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** A frame of any head block, complete in itself. */
    static Frame.Head head(int stream, int flags, HeadBlock block) {
        return new Frame.Head(stream, flags | FrameCodec.HEAD_LAST, StreamKind.HTTP, HeadOptions.NONE,
                Unpooled.wrappedBuffer(block.bytes()));
    }

    static Frame.GoAway goAway(String detail) {
        return new Frame.GoAway(ErrorCode.NO_ERROR, 0, 0, detail);
    }

    /** Writes bytes, be they messages or not. */
    synchronized void write(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    /** Writes bytes as one message, be they frames or not. */
    synchronized void send(ByteBuf frames) throws IOException {
        int length = frames.readableBytes();
        ByteBuffer message = ByteBuffer.allocate(length + 8).put((byte) BINARY);
        if (length < 126) {
            message.put((byte) (MASKED | length));
        } else {
            message.put((byte) (MASKED | 126)).putShort((short) length);
        }
        message.putInt(0); // a key of zeros masks nothing
        frames.readBytes(message.array(), message.position(), length);
        out.write(message.array(), 0, message.position() + length);
    }

    @Override
    public void close() throws IOException {
        Tls.hangUp(socket);
    }
}

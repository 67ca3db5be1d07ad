package dev.culvert.e2e.hostile;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyProof;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.HostPort;
import dev.culvert.e2e.hostile.RawServer.Peer;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * What a hand-made server does to a tunnel client, each to a client of its own: the client must end the session or the
 * stream with the code that docs/protocol.md names, hold no more than its bounds, and serve when it meets a server that
 * keeps the rules.
 */
final class ServerMisdeeds implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration DAY = Duration.ofDays(1);
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final int LARGE = 1 << 20;
    private static final int SMALLEST_WINDOW = 1 << 10;
    private static final Hello.Limits NARROW = new Hello.Limits(100_000, 1 << 20, 10_000, 4096,
            SMALLEST_WINDOW, 64 << 10);

    private final Path folder;
    private final CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle((request, response) -> switch (request.uri()) {
                case "/large" -> response.sendByteArray(Mono.just(new byte[LARGE]));
                case "/silent" -> Mono.never();
                default -> response.sendString(Mono.just("hello"));
            })
            .bindNow();

    /** What a server does. Returns what the client did about it. */
    interface Misdeed {
        String to(RawServer server) throws Exception;
    }

    /**
     * @param misdeed what the server does
     * @param expected what the client does about it
     */
    record Case(Misdeed misdeed, String expected) {}

    ServerMisdeeds(Path folder) {
        this.folder = folder;
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
    }

    Map<String, Case> all() {
        Map<String, Case> cases = new LinkedHashMap<>();
        cases.put("never says HELLO", new Case(server -> ended(server.accept()), "TIMEOUT"));
        cases.put("speaks versions of the future", new Case(server -> {
            Peer peer = server.accept();
            peer.send(new Frame.OpeningHello(new Hello(9, 10, 0, 7, 7, 0, false, RawServer.LIMITS,
                    RawServer.NONCE, "raw")));
            return ended(peer);
        }, "UNSUPPORTED"));
        cases.put("says READY before anything else", new Case(server -> {
            Peer peer = server.accept();
            peer.ready();
            return ended(peer);
        }, "PROTOCOL"));
        cases.put("sends a frame beyond 16 KiB", sends("80003ff900000000", "FRAME_SIZE"));
        cases.put("sends a frame of an unknown type", sends("7f00000000000000", "UNSUPPORTED"));
        cases.put("sends DATA of a stream that it never opened",
                sends("040000010000000561", "PROTOCOL"));
        cases.put("sends a text message", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            peer.message(0x81, new byte[]{'x'});
            return ended(peer);
        }, "PROTOCOL"));
        cases.put("sends a message of 1 MiB", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            try {
                peer.message(0x82, new byte[LARGE]);
            } catch (IOException e) {
                return "closed"; // before all of it was written
            }
            return ended(peer);
        }, "closed"));
        cases.put("sends a head that HPACK expands", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            peer.open(1, get("/").added("x-large", "x".repeat(3900)).newest(100), true);
            return reset(peer, 1);
        }, "HEAD_TOO_LARGE"));
        cases.put("floods a stream with heads", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            peer.open(1, get("/silent"), false);
            for (int i = 0; i < 5000; i++) {
                peer.send(RawTunnel.head(1, 0, new HeadBlock().field(":status", "103")));
            }
            return reset(peer, 1);
        }, "PROTOCOL"));
        cases.put("opens more streams than the client takes", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            for (int i = 1; i <= 1100; i++) {
                peer.open(i, get("/silent"), true);
            }
            reset(peer, 1100); // refused, or its upstream has no room for so many
            return "reset";
        }, "reset"));
        cases.put("sends more than a window of DATA", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            peer.open(1, new HeadBlock().field(":method", "POST")
                    .field(":scheme", "https")
                    .field(":authority", "x")
                    .field(":path", "/silent"), false);
            for (int sent = 0; sent < (12 << 20); sent += 16_000) {
                peer.send(new Frame.Data(1, Unpooled.wrappedBuffer(new byte[16_000]), false));
            }
            return reset(peer, 1);
        }, "FLOW_CONTROL"));
        cases.put("opens no window", new Case(ServerMisdeeds::closedWindow, "1024 bytes and a pong"));
        cases.put("floods with pings", new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            ByteBuf pings = Unpooled.buffer();
            for (int i = 0; i < 4000; i++) {
                pings.writeLong(0x0700_0008_0000_0000L).writeLong(i);
            }
            for (int i = 0; i < 50; i++) {
                peer.message(0x82, ByteBufUtil.getBytes(pings));
            }
            peer.send(new Frame.Ping(77, false));
            peer.await(frame -> frame instanceof Frame.Ping(long opaque, boolean ack) && ack
                    && opaque == 77);
            peer.close();
            return "the last is answered";
        }, "the last is answered"));
        cases.put("wants a proof that it could relay", new Case(ServerMisdeeds::wantsProof,
                "a proof for localhost alone"));
        return cases;
    }

    private static Case sends(String frames, String code) {
        return new Case(server -> {
            Peer peer = server.open(RawServer.LIMITS);
            peer.message(0x82, ByteBufUtil.decodeHexDump(frames));
            return ended(peer);
        }, code);
    }

    private static HeadBlock get(String path) {
        return HeadBlock.request("GET", "x", path);
    }

    /** Large answers of many streams, none of which may be sent: the client must not read them from its upstream. */
    private static String closedWindow(RawServer server) throws IOException {
        Peer peer = server.open(NARROW);
        peer.open(1, get("/large"), true);
        int bytes = 0;
        while (bytes < SMALLEST_WINDOW) {
            bytes += ((Frame.Data) peer.await(frame -> frame instanceof Frame.Data)).body().readableBytes();
        }
        peer.send(new Frame.Ping(77, false));
        Frame next = peer.await(frame -> frame instanceof Frame.Data
                || frame instanceof Frame.Ping(long opaque, boolean ack) && ack && opaque == 77);
        peer.close();
        return bytes + " bytes and " + (next instanceof Frame.Ping ? "a pong" : "more");
    }

    private static String wantsProof(RawServer server) throws IOException {
        Peer peer = server.accept();
        peer.hello(Hello.AUTH | Hello.PROOF, RawServer.LIMITS);
        var hello = (Frame.OpeningHello) peer.await(frame -> frame instanceof Frame.OpeningHello);
        var auth = (Frame.Auth) peer.await(frame -> frame instanceof Frame.Auth);
        peer.close();
        byte[] mine = RawServer.NONCE.bytes();
        byte[] clients = hello.hello().nonce().bytes();
        return "a proof for " + List.of("localhost", "tunnels.example.com")
                .stream()
                .filter(host -> KeyProof.opening(mine, clients, auth.certificate(), host)
                        .isBy(key(auth.certificate()), auth.proof()))
                .reduce((one, other) -> one + " and " + other)
                .orElse("nobody") + " alone";
    }

    private static PublicKey key(byte[] certificate) {
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(certificate))
                    .getPublicKey();
        } catch (CertificateException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** The code with which the client ends the session. */
    private static String ended(Peer peer) {
        try (peer) {
            return ((Frame.GoAway) peer.await(frame -> frame instanceof Frame.GoAway)).code().name();
        } catch (IOException e) {
            return "closed";
        }
    }

    /** The code with which the client resets a stream; its session goes on meanwhile. */
    private static String reset(Peer peer, int stream) throws IOException {
        try (peer) {
            return ((Frame.Reset) peer
                    .await(frame -> frame instanceof Frame.Reset reset && reset.streamId() == stream))
                    .code()
                    .name();
        }
    }

    /** Does it to a client of its own, then keeps the rules. Returns what the client did. */
    String run(String name, Case one) throws Exception {
        Path home = Files.createDirectory(folder.resolve(name.replace(' ', '-')));
        KeyPair keys = KeyPairs.generate();
        new TlsMaterial(List.of(ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("mallory", "prod", "r4nd0m"), DAY)), keys.getPrivate())
                .writeTo(home.resolve("client.crt"), home.resolve("client.key"));
        try (RawServer server = RawServer
                .start(ca.issueServer(List.of("localhost"), List.of(InetAddress.getLoopbackAddress()),
                        DAY))) {
            TunnelClient client = Objects.requireNonNull(TunnelClient.start(
                    new ClientConfig(List.of(URI.create("wss://localhost:" + server.port())),
                            folder.resolve("ca.crt"), null, null, null, home,
                            new ClientConfig.Health(ANY_PORT),
                            URI.create("http://127.0.0.1:" + upstream.port()),
                            null, null, 1),
                    event -> {}).block(PATIENCE));
            try {
                String did = one.misdeed.to(server);
                serves(server);
                return client.bufferedBytes() > LARGE ? did + ", and held " + client.bufferedBytes() : did;
            } finally {
                client.stop(Duration.ZERO).block(PATIENCE);
            }
        }
    }

    private static void serves(RawServer server) throws IOException {
        try (Peer peer = server.open(RawServer.LIMITS)) {
            peer.open(1, get("/"), true);
            peer.await(frame -> frame instanceof Frame.Data);
        }
    }

    @Override
    public void close() {
        upstream.disposeNow();
    }
}

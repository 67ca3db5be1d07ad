package dev.culvert.e2e.hostile;

import dev.culvert.certs.TlsMaterial;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** What strangers do at the tunnel listener, and a tenant's client in its session. */
final class TunnelScenarios {

    private TunnelScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("D1-behind", "responses in DATA frames of one byte, which nobody reads", 20,
                        TunnelScenarios::tinyFrames),
                new Scenario("D2", "informational heads that HPACK expands a thousandfold", 40_000,
                        TunnelScenarios::informational),
                Scenario.once("D6", "a proof that names another host", TunnelScenarios::anotherHost),
                new Scenario("D8", "strangers who promise a proof and are silent", 26,
                        TunnelScenarios::silentOpeners),
                Scenario.once("D13", "a certificate that is renewed to three keys",
                        TunnelScenarios::renewedTwice),
                new Scenario("D16", "readers that take a byte a second", 120, TunnelScenarios::trickling),
                new Scenario("closed-windows", "complete responses that windows of 0 bytes keep at the edge",
                        50,
                        (attack, callers) -> closedWindows(attack, callers, 1)),
                new Scenario("closed-windows-spread", "the same, from 50 addresses", 50,
                        (attack, callers) -> closedWindows(attack, callers, 50)),
                new Scenario("abandoned-turns", "connections that leave while they wait for a turn", 30,
                        TunnelScenarios::abandonedTurns),
                Scenario.once("D20", "a tunnel that is lost twice under a GET",
                        TunnelScenarios::lostTwice),
                Scenario.once("D10", "a GOAWAY whose detail writes log lines", TunnelScenarios::logLines));
    }

    private static void tinyFrames(Attack attack, double streams) throws Exception {
        Peers.answering(attack, (tunnel, head) -> answerInBytes(attack, tunnel, head.streamId()));
        unread(attack, streams);
    }

    private static void answerInBytes(Attack attack, RawTunnel tunnel, int stream) throws IOException {
        tunnel.send(RawTunnel.head(stream, 0, new HeadBlock().field(":status", "200")));
        int inABatch = 1000;
        int window = 256 << 10;
        for (int sent = 0; sent + inABatch < window && attack.runs(); sent += inABatch) {
            ByteBuf batch = Unpooled.buffer(9 * inABatch);
            for (int i = 0; i < inABatch; i++) {
                FrameCodec.dataHeader(stream, 1, false, batch);
                batch.writeByte('x');
            }
            tunnel.send(batch);
        }
    }

    /** Callers of one of the attacker's runtimes that read nothing of what they are sent. */
    private static void unread(Attack attack, double callers) throws Exception {
        String host = attack.host();
        for (RawHttp1 caller : attack.connected(callers,
                () -> RawHttp1.connect(attack.target, attack.address(), host))) {
            caller.lines("GET / HTTP/1.1", "Host: " + host, "");
        }
    }

    private static void informational(Attack attack, double heads) throws Exception {
        int callers = 10;
        Peers.answering(attack,
                (tunnel, head) -> informAgain(attack, tunnel, head.streamId(), heads / callers));
        unread(attack, callers);
    }

    private static void informAgain(Attack attack, RawTunnel tunnel, int stream, double heads)
            throws IOException {
        String value = "x".repeat(3900);
        tunnel.send(RawTunnel.head(stream, 0,
                new HeadBlock().field(":status", "103").added("link", value)));
        for (int i = 0; i < heads && attack.runs(); i++) {
            tunnel.send(RawTunnel.head(stream, 0, new HeadBlock().field(":status", "103").newest(15)));
        }
    }

    private static void anotherHost(Attack attack) throws IOException {
        try {
            RawTunnel.prove(attack.target, attack.address(), attack.identity(), "relay.example.com").close();
            attack.fault("a proof for relay.example.com opened a session");
        } catch (IOException e) {
            // refused, as it must be
        }
        try (var proven = RawTunnel.prove(attack.target, attack.address(), attack.identity(), "localhost")) {
            proven.send(RawTunnel.goAway("done"));
        } catch (IOException e) {
            attack.fault("a proof for the listener's own name opened none: " + e.getMessage());
        }
    }

    private static void silentOpeners(Attack attack, double perSecond) throws IOException {
        var number = new AtomicInteger();
        attack.aside(() -> attack.paced(perSecond,
                () -> attack
                        .keep(RawTunnel.promise(attack.target, Attack.source(number.incrementAndGet())))));
        attack.aside(() -> attack.paced(3, () -> {
            try {
                RawTunnel.prove(attack.target, attack.address(), attack.identity(), "localhost").close();
            } catch (IOException e) {
                if (attack.runs()) {
                    attack.fault("an honest client was not let in: " + e.getMessage());
                }
            }
        }));
    }

    private static void logLines(Attack attack) throws IOException {
        try (RawTunnel tunnel = Peers.silent(attack)) {
            tunnel.send(RawTunnel.goAway("done\n2026-01-01T00:00:00Z INFO audit forged=1\r\u001b[2J"));
            Peers.silent(attack).close(); // the server has read the one before when this one has opened
        }
        String log = Files.readString(attack.target.folder().resolve("server.log"),
                StandardCharsets.ISO_8859_1);
        if (log.lines().anyMatch(line -> line.startsWith("2026-01-01T00:00:00Z INFO audit"))) {
            attack.fault("a peer wrote a line of the log");
        }
    }

    /** A stolen key must not live on beside the client's own. */
    private static void renewedTwice(Attack attack) throws IOException {
        TlsMaterial first = RawIdentity.renew(attack.target, attack.address(), attack.identity());
        RawIdentity.renew(attack.target, attack.address(), first);
        try {
            RawIdentity.renew(attack.target, attack.address(), first);
            Files.readString(attack.target.folder().resolve("server.log"), StandardCharsets.ISO_8859_1)
                    .lines()
                    .filter(line -> line.contains("WARN") && line.contains("renew"))
                    .findFirst()
                    .ifPresentOrElse(attack::note,
                            () -> attack.fault("a second key for a renewed certificate, and no word of it"));
        } catch (IOException e) {
            attack.note(String.valueOf(e.getMessage()));
        }
    }

    private static void trickling(Attack attack, double readers) throws Exception {
        Peers.answering(attack, (tunnel, head) -> {
            tunnel.send(RawTunnel.head(head.streamId(), 0, new HeadBlock().field(":status", "200")));
            for (int sent = 0; sent < 16 && attack.runs(); sent++) {
                tunnel.send(new Frame.Data(head.streamId(), Unpooled.wrappedBuffer(new byte[16_000]), false));
            }
        });
        String host = attack.host();
        List<RawHttp2> callers = attack.connected(Math.ceil(readers / 60),
                () -> RawHttp2.connect(attack.target, attack.address(), host));
        for (RawHttp2 caller : callers) {
            for (int i = 0; i < 60; i++) {
                int stream = caller.open(HeadBlock.request("GET", host, "/"), true);
                attack.aside(() -> attack.paced(1, () -> caller.frame(RawHttp2.WINDOW_UPDATE, 0, stream,
                        new byte[]{0, 0, 0, 1})));
            }
        }
    }

    /** Complete responses of 30,000 bytes, which their callers' windows of 0 bytes keep at the edge. */
    private static void closedWindows(Attack attack, double connections, int addresses) throws Exception {
        Peers.answering(attack, (tunnel, head) -> {
            tunnel.send(RawTunnel.head(head.streamId(), 0, new HeadBlock().field(":status", "200")));
            tunnel.send(new Frame.Data(head.streamId(), Unpooled.wrappedBuffer(new byte[15_000]), false));
            tunnel.send(new Frame.Data(head.streamId(), Unpooled.wrappedBuffer(new byte[15_000]), true));
        });
        String host = attack.host();
        var number = new AtomicInteger();
        for (RawHttp2 caller : attack.connected(connections,
                () -> RawHttp2.connect(attack.target, addresses == 1
                        ? attack.address()
                        : "127.0.8." + (1 + number.incrementAndGet() % addresses), host))) {
            attack.aside(() -> {
                caller.frame(RawHttp2.SETTINGS, 0, 0, new byte[]{0, 4, 0, 0, 0, 0}); // the initial window
                for (int i = 0; i < 100 && attack.runs(); i++) {
                    caller.open(HeadBlock.request("GET", host, "/"), true);
                }
            });
        }
    }

    /** Connections that leave while their second request waits for a turn, which four slow ones of their address hold. */
    private static void abandonedTurns(Attack attack, double perSecond) throws Exception {
        var asked = new AtomicInteger();
        Peers.answering(attack, (tunnel, head) -> {
            if (asked.incrementAndGet() % 2 == 1) { // the first of each connection, more or less
                tunnel.send(RawTunnel.head(head.streamId(), FrameCodec.END,
                        new HeadBlock().field(":status", "200")));
            }
        });
        String host = attack.host();
        String request = "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
        byte[] both = (request + request).getBytes(StandardCharsets.US_ASCII);
        attack.paced(perSecond, () -> {
            try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), host)) {
                caller.write(both).head();
            }
        });
    }

    private static void lostTwice(Attack attack) throws Exception {
        Peers.Answer answer = (tunnel, head) -> tunnel
                .send(RawTunnel.head(head.streamId(), FrameCodec.END,
                        new HeadBlock().field(":status", "200")));
        Peers.answering(attack, losing(attack, losing(attack, answer)));
        String host = attack.host();
        try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), host)) {
            String head = caller.lines("GET / HTTP/1.1", "Host: " + host, "").head();
            if (!head.startsWith("HTTP/1.1 200")) {
                attack.fault("a GET whose tunnel was lost twice: " + head.lines().findFirst().orElse("")
                        + new String(caller.in().readNBytes(RawHttp1.length(head)), StandardCharsets.UTF_8));
            }
        }
    }

    /** Drops its connection once another one is there, which answers: how fast it comes is not what is judged. */
    private static Peers.Answer losing(Attack attack, Peers.Answer next) {
        return (tunnel, head) -> {
            Peers.answering(attack, next);
            tunnel.close();
        };
    }
}

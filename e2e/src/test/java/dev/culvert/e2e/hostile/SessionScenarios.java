package dev.culvert.e2e.hostile;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** What a hand-made client does in sessions of its own, frame by frame. */
final class SessionScenarios {
    /** Of one tunnel when another one comes: those that drain, and the one that takes streams. */
    private static final int MAX_SESSIONS = 34;
    /** Longest batch that is a message. */
    private static final int BATCH = FrameCodec.MAX_BATCH / FrameCodec.HEADER_BYTES;

    private SessionScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("D9", "frames that mean nothing, 8,000 in a message", 100,
                        SessionScenarios::noise),
                new Scenario("pings", "WebSocket pings of 125 bytes, whose pongs nobody reads", 2000,
                        SessionScenarios::pings),
                Scenario.once("D14", "sessions that drain and never end", SessionScenarios::draining),
                Scenario.once("D21", "an answer that is reset right behind its bytes",
                        SessionScenarios::cutAnswer),
                Scenario.once("frames", "messages that no client may send", SessionScenarios::malformed),
                Scenario.once("windows", "an answer beyond its window", SessionScenarios::overrun));
    }

    private static void noise(Attack attack, double perSecond) throws IOException {
        RawTunnel tunnel = Peers.silent(attack);
        attack.inTurn(perSecond, () -> {
            ByteBuf notes = Unpooled.buffer();
            for (int i = 0; i < BATCH; i++) {
                notes.writeLong(0x80L << 56); // NOTE without a payload
            }
            tunnel.send(notes);
        });
    }

    private static void pings(Attack attack, double perSecond) throws IOException {
        RawTunnel tunnel = attack
                .keep(RawTunnel.open(attack.target, attack.address(), attack.identity()));
        byte[] ping = new byte[6 + 125];
        ping[0] = (byte) 0x89;
        ping[1] = (byte) (0x80 | 125);
        attack.inTurn(perSecond, () -> tunnel.write(ping));
    }

    /** Each holds a stream that is never answered, and is replaced by the next one. */
    private static void draining(Attack attack) throws Exception {
        int surplus = 4;
        var arrived = new Semaphore(0);
        List<RawTunnel> tunnels = new ArrayList<>();
        RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, attack.address(), attack.host()));
        for (int i = 0; i < MAX_SESSIONS + surplus; i++) {
            tunnels.add(Peers.answering(attack, (tunnel, head) -> arrived.release()));
            caller.open(HeadBlock.request("GET", attack.host(), "/"), true);
            if (!arrived.tryAcquire(Tls.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                attack.fault("no request arrived in session " + i);
                return;
            }
        }
        for (int i = 0; i < surplus; i++) {
            tunnels.get(i).end();
        }
        if (tunnels.getLast().isEnded()) {
            attack.fault("the session that takes streams was closed");
        }
    }

    private static void cutAnswer(Attack attack) throws IOException {
        Peers.answering(attack, (tunnel, head) -> {
            ByteBuf batch = Unpooled.buffer();
            int stream = head.streamId();
            for (Frame frame : List.of(
                    RawTunnel.head(stream, 0, new HeadBlock().field(":status", "200")),
                    new Frame.Data(stream, Unpooled.copiedBuffer("last words", ISO_8859_1), false))) {
                FrameCodec.encode(frame, batch);
            }
            batch.writeBytes(new byte[]{6, 0, 0, 4}).writeInt(stream).writeInt(0x000b0904); // RESET, upstream-reset
            tunnel.send(batch);
        });
        try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), attack.host())) {
            caller.lines("GET / HTTP/1.1", "Host: " + attack.host(), "");
            var answer = new StringBuilder(caller.head());
            try {
                for (int octet = caller.in().read(); octet >= 0; octet = caller.in().read()) {
                    answer.append((char) octet);
                }
            } catch (SocketException e) {
                attack.note("then reset, as it should be");
            }
            if (answer.indexOf("last words") < 0 || answer.toString().endsWith("0\r\n\r\n")) {
                attack.fault("bytes in front of a reset, or the reset itself, did not arrive: " + answer);
            }
        }
    }

    private record Sent(String bytes, String code) {}

    /** Each ends its session with the code that docs/protocol.md names, and no other one. */
    private static void malformed(Attack attack) throws Exception {
        Map<String, Sent> messages = new TreeMap<>(Map.of(
                "a frame beyond 16 KiB", new Sent("80003ff900000000", "FRAME_SIZE"),
                "a frame that is cut off", new Sent("0700", "FRAME_SIZE"),
                "a PING of 7 bytes", new Sent("070000070000000000000000000000", "FRAME_SIZE"),
                "an unknown frame", new Sent("7f00000000000000", "UNSUPPORTED"),
                "DATA of a stream that nobody opened", new Sent("040000010000000561", "PROTOCOL"),
                "HEAD with a stream id of 2^31", new Sent("0306000080000000", "PROTOCOL"),
                "a grant of nothing", new Sent("050000040000000000000000", "FLOW_CONTROL"),
                "HELLO again", new Sent("0100000000000000", "PROTOCOL")));
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (var message : messages.entrySet()) {
            Sent sent = message.getValue();
            var end = new CompletableFuture<Void>();
            ends.add(end);
            RawTunnel tunnel = Peers.silent(attack);
            tunnel.send(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(sent.bytes())));
            attack.aside(() -> {
                String code = tunnel.end();
                if (!code.equals(sent.code())) {
                    attack.fault(message.getKey() + " ended its session with " + code);
                }
                end.complete(null);
            });
        }
        RawTunnel endless = Peers.silent(attack);
        byte[] part = new byte[16_000];
        Arrays.fill(part, (byte) ' ');
        try {
            for (int sent = 0; sent < (300 << 10); sent += part.length) {
                endless.send(new Frame.Announce(part, false));
            }
        } catch (IOException e) {
            // it was closed before all was sent
        }
        if (!endless.end().equals("FRAME_SIZE")) {
            attack.fault("an announcement without end did not end its session");
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                .orTimeout(Tls.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    private static void overrun(Attack attack) throws Exception {
        var code = new CompletableFuture<String>();
        var tunnel = new CompletableFuture<RawTunnel>();
        tunnel.complete(Peers.serving(attack, attack.runtime(), frame -> {
            if (frame instanceof Frame.Head head) {
                attack.aside(() -> {
                    tunnel.join()
                            .send(RawTunnel.head(head.streamId(), 0,
                                    new HeadBlock().field(":status", "200")));
                    for (int sent = 0; sent < (4 << 20); sent += 16_000) {
                        tunnel.join()
                                .send(new Frame.Data(head.streamId(),
                                        Unpooled.wrappedBuffer(new byte[16_000]), false));
                    }
                });
            } else if (frame instanceof Frame.Reset reset) {
                code.complete(reset.code().name());
            }
            Frame.release(frame);
        }));
        RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, attack.address(), attack.host()));
        caller.open(HeadBlock.request("GET", attack.host(), "/"), true);
        String answer = code.get(Tls.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        if (!answer.equals("FLOW_CONTROL")) {
            attack.fault("an answer beyond its window was reset with " + answer);
        }
    }
}

package dev.culvert.e2e.hostile;

import static dev.culvert.e2e.hostile.RawHttp2.SETTINGS;
import static dev.culvert.e2e.hostile.RawHttp2.WINDOW_UPDATE;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Callers that read little or nothing of long responses, while others call the same runtime. They come again when they are cut. */
final class ReaderScenarios {
    private static final int STREAMS = 60;
    private static final int SPREAD = 250;
    private static final Duration AGAIN = Duration.ofMillis(500);
    /** Tells an attacker's request from an honest caller's, whose head is smaller: never indexed, so as long each time. */
    private static final String COOKIE = "z".repeat(2000);
    private static final int ATTACKERS_HEAD = 1200;

    private ReaderScenarios() {}

    /** How they read. */
    private record Pace(int bytes, Duration every) {
        static final Pace ABOVE_THE_FLOOR = new Pace(5_200, Duration.ofMillis(4_500));
        static final Pace TRICKLE = new Pace(1, Duration.ofSeconds(3));
        static final Pace NONE = new Pace(0, Duration.ofSeconds(3));
    }

    static List<Scenario> all() {
        return List.of(
                new Scenario("slow-readers", "readers that take 5,200 bytes in 4.5 s", 150,
                        (attack, readers) -> slow(attack, readers, 1, Pace.ABOVE_THE_FLOOR)),
                new Scenario("slow-readers-spread", "the same, from 250 addresses", 150,
                        (attack, readers) -> slow(attack, readers, SPREAD, Pace.ABOVE_THE_FLOOR)),
                new Scenario("slow-readers-trickle", "readers that take a byte in 3 s", 150,
                        (attack, readers) -> slow(attack, readers, 1, Pace.TRICKLE)),
                new Scenario("slow-readers-trickle-spread", "the same, from 250 addresses", 150,
                        (attack, readers) -> slow(attack, readers, SPREAD, Pace.TRICKLE)),
                new Scenario("unread-event-streams", "event streams that nobody reads", 150,
                        ReaderScenarios::unreadEvents));
    }

    private static void slow(Attack attack, double readers, int addresses, Pace pace) throws Exception {
        Peers.answering(attack, (tunnel, head) -> answer(attack, tunnel, head, 16_000, Duration.ZERO));
        read(attack, readers, addresses, pace);
    }

    private static void unreadEvents(Attack attack, double readers) throws Exception {
        Peers.answering(attack,
                (tunnel, head) -> answer(attack, tunnel, head, 4_000, Duration.ofMillis(100)));
        read(attack, readers, 1, Pace.NONE);
    }

    /** Long responses to attackers, until their window is full, and short ones to others. */
    private static void answer(Attack attack, RawTunnel tunnel, Frame.Head request, int part, Duration every)
            throws IOException {
        int stream = request.streamId();
        if (!isAttackers(request)) {
            tunnel.send(RawTunnel.head(stream, FrameCodec.END, new HeadBlock().field(":status", "200")));
            return;
        }
        tunnel.send(RawTunnel.head(stream, 0,
                new HeadBlock().field(":status", "200").field("content-type", "text/event-stream")));
        for (int sent = 0; sent + part < 256 << 10 && attack.runs(); sent += part) {
            tunnel.send(new Frame.Data(stream, Unpooled.wrappedBuffer(new byte[part]), false));
            LockSupport.parkNanos(every.toNanos());
        }
    }

    /** Whether a request is one of {@link #request}. */
    static boolean isAttackers(Frame.Head request) {
        return request.block().readableBytes() > ATTACKERS_HEAD;
    }

    /** A request that {@link #isAttackers} knows. */
    static HeadBlock request(String host) {
        return HeadBlock.request("GET", host, "/").field("cookie", COOKIE);
    }

    private static void read(Attack attack, double readers, int addresses, Pace pace) throws Exception {
        HonestCallers honest = HonestCallers.begin(attack);
        double connections = addresses == 1 ? Math.ceil(readers / STREAMS) : Math.min(addresses, readers);
        int each = (int) Math.ceil(readers / connections);
        for (int i = 0; i < connections; i++) {
            String source = addresses == 1 ? attack.address() : "127.0.8." + (1 + i % SPREAD);
            attack.aside(() -> {
                while (attack.runs()) {
                    try (RawHttp2 caller = attack
                            .keep(RawHttp2.connect(attack.target, source, attack.host()))) {
                        readAs(attack, caller, each, pace);
                    } catch (IOException e) {
                        // cut: it comes again
                    }
                    LockSupport.parkNanos(AGAIN.toNanos());
                }
            });
        }
        honest.awaitEnd();
    }

    /** Keeps so many responses open, and reads them at this pace. */
    private static void readAs(Attack attack, RawHttp2 caller, int streams, Pace pace) throws IOException {
        caller.frame(SETTINGS, 0, 0,
                ByteBuffer.allocate(6).putShort((short) 4).putInt(pace.bytes).array());
        caller.frame(WINDOW_UPDATE, 0, 0, ByteBuffer.allocate(4).putInt(1 << 30).array());
        byte[] window = ByteBuffer.allocate(4).putInt(pace.bytes).array();
        Set<Integer> open = new HashSet<>();
        long next = System.nanoTime() + pace.every.toNanos();
        while (attack.runs()) {
            open.removeAll(caller.ended());
            while (open.size() < streams && attack.runs()) {
                open.add(caller.open(request(attack.host()), true));
            }
            if (System.nanoTime() - next >= 0 && pace.bytes > 0) {
                for (int stream : open) {
                    caller.frame(WINDOW_UPDATE, 0, stream, window);
                }
                next += pace.every.toNanos();
            }
            caller.requireOpen();
            LockSupport.parkNanos(AGAIN.toNanos());
        }
    }
}

package dev.culvert.e2e.hostile;

import static dev.culvert.e2e.hostile.RawHttp2.DATA;
import static dev.culvert.e2e.hostile.Target.HONEST;

import dev.culvert.protocol.frame.FrameCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What anonymous callers of the edge do. */
final class CallerScenarios {
    private static final int STREAMS_OF_A_CONNECTION = 100;
    private static final int MAX_ADDRESSES = 5000;
    private static final long PAUSE_NANOS = 100_000_000;

    private CallerScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("D1", "uploads in DATA frames of one byte, which nobody reads", 60,
                        CallerScenarios::tinyFrames),
                new Scenario("D1-chunks", "uploads in chunks of one byte, which nobody reads", 20,
                        CallerScenarios::tinyChunks),
                new Scenario("D3", "Via fields with 56,000 commas, in 102 bytes", 100,
                        CallerScenarios::commas),
                new Scenario("D4", "connections that begin a ClientHello, 600 a second", 600,
                        CallerScenarios::halfHellos),
                new Scenario("D5", "POSTs without their bodies to the honest tenant", 1000,
                        CallerScenarios::bodyless),
                new Scenario("D12", "heads of 60 KiB whose requests nobody answers", 300,
                        CallerScenarios::largeHeads),
                Scenario.once("D15", "a field that says who calls, spelled with underscores",
                        CallerScenarios::forgedCaller),
                Scenario.once("D17", "a rule whose service is asked over plain http",
                        CallerScenarios::plainRule),
                new Scenario("resets", "streams that are reset at once", 200, CallerScenarios::resets),
                new Scenario("slow-heads", "heads that arrive a byte a second", 100,
                        CallerScenarios::slowHeads),
                new Scenario("slow-bodies", "bodies that arrive a byte a second", 100,
                        CallerScenarios::slowBodies),
                new Scenario("pipelined", "requests behind each other, whose answers nobody reads", 20,
                        CallerScenarios::pipelined),
                new Scenario("silent-addresses", "silent connections from an address each, at the edge", 1500,
                        (attack, addresses) -> silentAddresses(attack, addresses, attack.target.edge())),
                new Scenario("silent-addresses-tunnel", "the same, at the tunnel listener", 1500,
                        (attack, addresses) -> silentAddresses(attack, addresses, attack.target.tunnel())),
                new Scenario("unanswered-addresses",
                        "addresses with one unanswered GET each, five for each place of the runtime", 100,
                        CallerScenarios::unansweredAddresses),
                Scenario.once("limits", "heads and frames of HTTP that are too many or too large",
                        CallerScenarios::limits));
    }

    private static void tinyFrames(Attack attack, double streams) throws Exception {
        Peers.silent(attack);
        int each = 30; // streams of a connection, as in the finding
        String host = attack.host();
        for (RawHttp2 caller : attack.connected(streams / each,
                () -> RawHttp2.connect(attack.target, attack.address(), host))) {
            attack.aside(() -> {
                int[] ids = new int[each];
                for (int i = 0; i < each; i++) {
                    ids[i] = caller.open(HeadBlock.request("POST", host, "/upload"), false);
                }
                // not over a stream's window: 256 KiB
                for (int sent = 0; sent < 250 && attack.runs(); sent++) {
                    for (int id : ids) {
                        caller.write(repeated(RawHttp2.bytes(DATA, 0, id, new byte[1]), 1000));
                    }
                }
            });
        }
    }

    private static void tinyChunks(Attack attack, double callers) throws Exception {
        Peers.silent(attack);
        byte[] chunks = repeated("1\r\nx\r\n".getBytes(StandardCharsets.US_ASCII), 1000);
        for (RawHttp1 caller : attack.connected(callers,
                () -> RawHttp1.connect(attack.target, attack.address(), attack.host()))) {
            attack.aside(() -> {
                caller.lines("POST /upload HTTP/1.1", "Host: " + attack.host(),
                        "Transfer-Encoding: chunked", "");
                while (attack.runs()) {
                    caller.write(chunks);
                }
            });
        }
    }

    private static byte[] repeated(byte[] bytes, int times) {
        var all = new ByteArrayOutputStream(bytes.length * times);
        for (int i = 0; i < times; i++) {
            all.writeBytes(bytes);
        }
        return all.toByteArray();
    }

    private static void commas(Attack attack, double perSecond) throws Exception {
        String nobody = "nobody." + Target.DOMAIN;
        List<RawHttp2> callers = attack.connected(4,
                () -> RawHttp2.connect(attack.target, attack.address(), nobody));
        for (RawHttp2 caller : callers) {
            attack.aside(() -> {
                caller.open(HeadBlock.request("GET", nobody, "/").added("via", ",".repeat(3900)), true);
                attack.paced(perSecond / callers.size(), () -> caller.open(
                        HeadBlock.request("GET", nobody, "/").newest(15), true));
            });
        }
    }

    private static void halfHellos(Attack attack, double perSecond) {
        attack.paced(perSecond, () -> {
            try (Socket socket = Tls.plain(attack.address(), attack.target.edge())) {
                socket.getOutputStream().write(0x16);
                socket.setSoTimeout(Tls.PATIENCE_MILLIS);
                socket.getInputStream().read();
            }
        });
    }

    private static void bodyless(Attack attack, double requests) throws Exception {
        for (RawHttp2 caller : attack.connected(requests / STREAMS_OF_A_CONNECTION,
                () -> RawHttp2.connect(attack.target, attack.address(), HONEST))) {
            attack.aside(() -> {
                for (int i = 0; i < STREAMS_OF_A_CONNECTION && attack.runs(); i++) {
                    caller.open(HeadBlock.request("POST", HONEST, "/workflows/upload")
                            .field("content-length", "1000"), false);
                }
            });
        }
    }

    private static void largeHeads(Attack attack, double requests) throws Exception {
        Peers.silent(attack);
        String host = attack.host();
        var number = new AtomicInteger();
        int each = 50;
        for (RawHttp2 caller : attack.connected(requests / each, () -> RawHttp2.connect(attack.target,
                "127.0.7." + (1 + number.incrementAndGet() % 250), host))) {
            attack.aside(() -> {
                caller.open(HeadBlock.request("GET", host, "/").added("x-large", "x".repeat(3900)).newest(14),
                        true);
                for (int i = 1; i < each && attack.runs(); i++) {
                    caller.open(HeadBlock.request("GET", host, "/").newest(15), true);
                }
            });
        }
    }

    private static void forgedCaller(Attack attack) throws Exception {
        try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), HONEST)) {
            caller.lines("GET /workflows/ HTTP/1.1", "Host: " + HONEST, "culvert_caller_subject: admin",
                    "Culvert-Caller_Subject: admin", "Connection: close", "");
            String answer = new String(caller.in().readAllBytes(), StandardCharsets.ISO_8859_1);
            if (!answer.contains("hello")) {
                attack.fault("the service got " + answer);
            }
        }
    }

    private static void plainRule(Attack attack) throws Exception {
        int status = attack.target
                .admin("PUT", "/api/v1/runtimes/bob/prod/access", """
                        {"rules":[{"path":"/","require":"forwardAuth",
                        "forwardAuth":{"url":"http://192.0.2.1/verify"}}]}""")
                .statusCode();
        if (status != 400) {
            attack.fault("a rule with http://192.0.2.1/verify got " + status);
        }
    }

    private static void resets(Attack attack, double perSecond) throws Exception {
        String host = attack.host();
        Peers.silent(attack);
        attack.paced(perSecond / STREAMS_OF_A_CONNECTION, () -> {
            RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, attack.address(), host));
            for (int i = 0; i < 10 * STREAMS_OF_A_CONNECTION; i++) {
                int stream = caller.open(HeadBlock.request("GET", host, "/"), true);
                caller.frame(RawHttp2.RST_STREAM, 0, stream, new byte[]{0, 0, 0, 8});
            }
        });
    }

    private static void slowBodies(Attack attack, double connections) throws Exception {
        for (RawHttp1 caller : attack.connected(connections,
                () -> RawHttp1.connect(attack.target, attack.address(), HONEST))) {
            attack.aside(() -> {
                caller.lines("POST /workflows/ HTTP/1.1", "Host: " + HONEST, "Content-Length: 1000", "");
                attack.inTurn(1, () -> caller.write(new byte[]{'x'}));
            });
        }
    }

    private static void pipelined(Attack attack, double connections) throws Exception {
        byte[] requests = repeated(("GET /workflows/ HTTP/1.1\r\nHost: " + HONEST + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII), 200);
        for (RawHttp1 caller : attack.connected(connections,
                () -> RawHttp1.connect(attack.target, attack.address(), HONEST))) {
            attack.aside(() -> {
                while (attack.runs()) {
                    caller.write(requests);
                }
            });
        }
    }

    /** Connections that send nothing, each of an address of its own, made anew when they are closed. */
    private static void silentAddresses(Attack attack, double addresses, int port) {
        for (int i = 0; i < Math.min(addresses, MAX_ADDRESSES); i++) {
            String source = "127.1." + i / 250 + "." + (1 + i % 250);
            attack.aside(() -> {
                while (attack.runs()) {
                    try (Socket socket = attack.keep(Tls.plain(source, port))) {
                        socket.getInputStream().read();
                    } catch (IOException e) {
                        // closed, or refused: it comes again
                    }
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            });
        }
        attack.awaitEnd();
    }

    /** Requests that nobody answers, each of an address of its own, made anew when they give way or are refused. */
    private static void unansweredAddresses(Attack attack, double addresses) throws Exception {
        Peers.answering(attack, (tunnel, head) -> {
            if (!ReaderScenarios.isAttackers(head)) {
                tunnel.send(RawTunnel.head(head.streamId(), FrameCodec.END,
                        new HeadBlock().field(":status", "200")));
            }
        });
        String host = attack.host();
        attack.target.admin("PUT",
                "/api/v1/runtimes/" + Target.ATTACKER + "/r" + attack.runtime() + "/limits",
                "{\"maxStreams\":" + (int) addresses / 5 + "}");
        HonestCallers honest = HonestCallers.begin(attack);
        for (int i = 0; i < addresses; i++) {
            String source = "127.2." + i / 250 + "." + (1 + i % 250);
            attack.aside(() -> {
                while (attack.runs()) {
                    try (RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, source, host))) {
                        while (attack.runs()) {
                            caller.open(ReaderScenarios.request(host), true);
                            while (caller.ended().isEmpty() && attack.runs()) {
                                caller.requireOpen();
                                LockSupport.parkNanos(PAUSE_NANOS);
                            }
                        }
                    } catch (IOException e) {
                        // cut: it comes again
                    }
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            });
        }
        honest.awaitEnd();
    }

    /** Each ends its connection. */
    private static void limits(Attack attack) throws Exception {
        try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), HONEST)) {
            String head = caller
                    .lines("GET / HTTP/1.1", "Host: " + HONEST, "x: " + "x".repeat(70_000), "")
                    .head();
            if (!head.startsWith("HTTP/1.1 431")) {
                attack.fault("a head of 70,000 bytes got " + head.lines().findFirst().orElse(""));
            }
        }
        ended(attack, "2,000 pings", repeated(RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8]), 2000));
        ended(attack, "2,000 settings",
                repeated(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]), 2000));
        var continued = new ByteArrayOutputStream();
        continued.writeBytes(RawHttp2.bytes(RawHttp2.HEADERS, 0, 1, new byte[0]));
        continued.writeBytes(repeated(RawHttp2.bytes(RawHttp2.CONTINUATION, 0, 1, new byte[0]), 100));
        ended(attack, "a head in 100 empty frames", continued.toByteArray());
    }

    private static void ended(Attack attack, String what, byte[] frames) throws Exception {
        RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, attack.address(), HONEST));
        try {
            caller.write(frames);
        } catch (IOException e) {
            return; // closed before all of it was written
        }
        if (!caller.awaitEnd()) {
            attack.fault(what + " did not end their connection");
        }
    }

    private static void slowHeads(Attack attack, double connections) throws Exception {
        for (RawHttp1 caller : attack.connected(connections,
                () -> RawHttp1.connect(attack.target, attack.address(), HONEST))) {
            attack.aside(() -> {
                caller.lines("GET / HTTP/1.1");
                attack.paced(1, () -> caller.write(new byte[]{'x'}));
            });
        }
    }
}

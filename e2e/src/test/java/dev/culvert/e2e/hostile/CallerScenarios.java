package dev.culvert.e2e.hostile;

import static dev.culvert.e2e.hostile.RawHttp2.DATA;
import static dev.culvert.e2e.hostile.Target.HONEST;

import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** What anonymous callers of the edge do. */
final class CallerScenarios {
    private static final int STREAMS_OF_A_CONNECTION = 100;
    private static final String CALLERS = "127.0.3.1";

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
                new Scenario("D15", "a field that says who calls, spelled with underscores", 1,
                        CallerScenarios::forgedCaller),
                new Scenario("resets", "streams that are reset at once", 200, CallerScenarios::resets),
                new Scenario("slow-heads", "heads that arrive a byte a second", 100,
                        CallerScenarios::slowHeads));
    }

    private static void tinyFrames(Attack attack, double streams) throws Exception {
        Peers.silent(attack, 0);
        int each = 30; // streams of a connection, as in the finding
        String host = Target.attackersHost(0);
        for (RawHttp2 caller : attack.connected(streams / each,
                () -> RawHttp2.connect(attack.target, CALLERS, host))) {
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
        attack.awaitEnd();
    }

    private static void tinyChunks(Attack attack, double callers) throws Exception {
        Peers.silent(attack, 0);
        byte[] chunks = repeated("1\r\nx\r\n".getBytes(StandardCharsets.US_ASCII), 1000);
        for (RawHttp1 caller : attack.connected(callers,
                () -> RawHttp1.connect(attack.target, CALLERS, Target.attackersHost(0)))) {
            attack.aside(() -> {
                caller.lines("POST /upload HTTP/1.1", "Host: " + Target.attackersHost(0),
                        "Transfer-Encoding: chunked", "");
                while (attack.runs()) {
                    caller.write(chunks);
                }
            });
        }
        attack.awaitEnd();
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
        List<RawHttp2> callers = attack.connected(4, () -> RawHttp2.connect(attack.target, CALLERS, nobody));
        for (RawHttp2 caller : callers) {
            attack.aside(() -> {
                caller.open(HeadBlock.request("GET", nobody, "/").added("via", ",".repeat(3900)), true);
                attack.paced(perSecond / callers.size(), () -> caller.open(
                        HeadBlock.request("GET", nobody, "/").newest(15), true));
            });
        }
        attack.awaitEnd();
    }

    private static void halfHellos(Attack attack, double perSecond) {
        attack.paced(perSecond, () -> {
            try (Socket socket = Tls.plain(CALLERS, attack.target.edge())) {
                socket.getOutputStream().write(0x16);
                socket.setSoTimeout(Tls.PATIENCE_MILLIS);
                socket.getInputStream().read();
            }
        });
    }

    private static void bodyless(Attack attack, double requests) throws Exception {
        for (RawHttp2 caller : attack.connected(requests / STREAMS_OF_A_CONNECTION,
                () -> RawHttp2.connect(attack.target, CALLERS, HONEST))) {
            attack.aside(() -> {
                for (int i = 0; i < STREAMS_OF_A_CONNECTION && attack.runs(); i++) {
                    caller.open(HeadBlock.request("POST", HONEST, "/workflows/upload")
                            .field("content-length", "1000"), false);
                }
            });
        }
        attack.awaitEnd();
    }

    private static void largeHeads(Attack attack, double requests) throws Exception {
        Peers.silent(attack, 1);
        String host = Target.attackersHost(1);
        var number = new AtomicInteger();
        int each = 50;
        for (RawHttp2 caller : attack.connected(requests / each, () -> RawHttp2.connect(attack.target,
                "127.0.3." + (1 + number.incrementAndGet() % 250), host))) {
            attack.aside(() -> {
                caller.open(HeadBlock.request("GET", host, "/").added("x-large", "x".repeat(3900)).newest(14),
                        true);
                for (int i = 1; i < each && attack.runs(); i++) {
                    caller.open(HeadBlock.request("GET", host, "/").newest(15), true);
                }
            });
        }
        attack.awaitEnd();
    }

    private static void forgedCaller(Attack attack, double times) throws Exception {
        try (RawHttp1 caller = RawHttp1.connect(attack.target, CALLERS, HONEST)) {
            caller.lines("GET /workflows/ HTTP/1.1", "Host: " + HONEST, "culvert_caller_subject: admin",
                    "Culvert-Caller_Subject: admin", "Connection: close", "");
            String answer = new String(caller.in().readAllBytes(), StandardCharsets.ISO_8859_1);
            if (!answer.contains("hello")) {
                attack.fault("the service got " + answer);
            }
        }
        attack.awaitEnd();
    }

    private static void resets(Attack attack, double perSecond) throws Exception {
        String host = Target.attackersHost(0);
        Peers.silent(attack, 0);
        attack.paced(perSecond / STREAMS_OF_A_CONNECTION, () -> {
            RawHttp2 caller = attack.keep(RawHttp2.connect(attack.target, CALLERS, host));
            for (int i = 0; i < 10 * STREAMS_OF_A_CONNECTION; i++) {
                int stream = caller.open(HeadBlock.request("GET", host, "/"), true);
                caller.frame(RawHttp2.RST_STREAM, 0, stream, new byte[]{0, 0, 0, 8});
            }
        });
    }

    private static void slowHeads(Attack attack, double connections) throws Exception {
        for (RawHttp1 caller : attack.connected(connections,
                () -> RawHttp1.connect(attack.target, CALLERS, HONEST))) {
            attack.aside(() -> {
                caller.lines("GET / HTTP/1.1");
                attack.paced(1, () -> caller.write(new byte[]{'x'}));
            });
        }
        attack.awaitEnd();
    }
}

package dev.culvert.e2e.hostile;

import static dev.culvert.e2e.hostile.Target.HONEST;

import dev.culvert.protocol.frame.Frame;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What anonymous callers and hostile event sources do to the inbox. */
final class WebhookScenarios {
    /** Of a slow event source between two bytes. */
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final int STREAMS_OF_A_CONNECTION = 90;
    /** Of a delivered webhook: its row, and 4 KiB of its answer. */
    private static final long KEPT_BYTES = 8 << 10;
    /** What other tenants' webhooks and the database's own log take meanwhile. */
    private static final long SLACK_BYTES = 24 << 20;

    /** Attackers get the CPU that nobody else wants: on a busy machine that is little. */
    private static final Duration ARRIVAL = Duration.ofMinutes(1);

    private WebhookScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("P1", "webhooks that announce 65,000 bytes and send none", 514,
                        WebhookScenarios::announced),
                new Scenario("P2", "webhooks for invented event sources of the honest tenant", 1010,
                        WebhookScenarios::invented),
                new Scenario("P3", "event sources that answer one byte at a time", 64,
                        WebhookScenarios::dripping),
                new Scenario("P5", "webhooks that fail always, to a source of the honest tenant", 1,
                        WebhookScenarios::poison),
                new Scenario("P4", "webhooks of 1 MB for event sources that never answer", 30,
                        WebhookScenarios::filling),
                new Scenario("P7", "event sources that answer 60,000 bytes", 4,
                        (attack, callers) -> delivered(attack, callers, 10)),
                new Scenario("P12", "webhooks of 100,000 bytes, delivered one after the other", 4,
                        (attack, callers) -> delivered(attack, callers, 100_000)));
    }

    private static void announced(Attack attack, double webhooks) throws Exception {
        for (RawHttp2 caller : connected(attack, webhooks)) {
            attack.aside(() -> {
                for (int i = 0; i < STREAMS_OF_A_CONNECTION && attack.runs(); i++) {
                    caller.open(HeadBlock.request("POST", HONEST, "/webhooks/argo/push0/x")
                            .field("content-length", "65000"), false);
                }
            });
        }
    }

    private static void invented(Attack attack, double sources) throws Exception {
        var number = new AtomicInteger();
        for (RawHttp2 caller : connected(attack, sources)) {
            attack.aside(() -> {
                for (int i = 0; i < STREAMS_OF_A_CONNECTION && attack.runs(); i++) {
                    post(caller, HONEST, "/webhooks/argo/invented" + number.incrementAndGet() + "/x");
                }
            });
        }
    }

    private static List<RawHttp2> connected(Attack attack, double webhooks) throws InterruptedException {
        return attack.connected(Math.ceil(webhooks / STREAMS_OF_A_CONNECTION),
                () -> RawHttp2.connect(attack.target, attack.address(), HONEST));
    }

    /** Of each of the attacker's runtimes as many sources as slots that one runtime may have. */
    private static void dripping(Attack attack, double sources) throws Exception {
        var number = new AtomicInteger();
        var deliveries = new AtomicInteger();
        for (int runtime = 0; runtime < Target.SPARE_RUNTIMES; runtime++) {
            String source = "127.0.4." + (2 + runtime);
            Peers.answering(attack, runtime, (tunnel, head) -> {
                deliveries.incrementAndGet();
                drip(attack, tunnel, head.streamId());
            });
            String host = Target.attackersHost(runtime);
            for (RawHttp2 caller : attack.connected(Math.ceil(sources / STREAMS_OF_A_CONNECTION),
                    () -> RawHttp2.connect(attack.target, source, host))) {
                attack.aside(() -> {
                    for (int i = 0; i < STREAMS_OF_A_CONNECTION && attack.runs(); i++) {
                        post(caller, host, "/webhooks/argo/source" + number.incrementAndGet() + "/x");
                    }
                });
            }
        }
        arrived(attack, deliveries);
    }

    /** One webhook a second fails for ever, in the line of those that don't. */
    private static void poison(Attack attack, double perSecond) throws Exception {
        RawHttp2 caller = attack.connected(1, () -> RawHttp2.connect(attack.target, attack.address(), HONEST))
                .getFirst();
        attack.paced(perSecond, () -> {
            int stream = caller.open(HeadBlock.request("POST", HONEST,
                    "/webhooks/argo/" + HonestTenant.POISONED_SOURCE + "/x"), false);
            caller.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream,
                    HonestTenant.POISON.getBytes(StandardCharsets.US_ASCII));
        });
    }

    /** More than {@link HostileServer} lets one runtime keep. */
    private static void filling(Attack attack, double perSecond) throws IOException {
        Peers.answering(attack, (tunnel, head) -> {});
        long before = stored(attack);
        byte[] body = new byte[1_000_000];
        attack.paced(perSecond, () -> {
            try (RawHttp1 caller = RawHttp1.connect(attack.target, attack.address(), attack.host())) {
                caller.lines("POST /webhooks/argo/filling/x HTTP/1.1", "Host: " + attack.host(),
                        "Content-Length: " + body.length, "").write(body);
                attack.answered(caller.head());
            }
        });
        bounded(attack, stored(attack) - before, 0);
    }

    /** Callers that wait for their event source's answer, then send the next webhook. */
    private static void delivered(Attack attack, double callers, int bytes) throws Exception {
        var deliveries = new AtomicInteger();
        byte[] answer = new byte[15_000];
        Peers.answering(attack, (tunnel, head) -> {
            deliveries.incrementAndGet();
            tunnel.send(RawTunnel.head(head.streamId(), 0, new HeadBlock().field(":status", "200")));
            for (int i = 0; i < 4; i++) {
                tunnel.send(new Frame.Data(head.streamId(), Unpooled.wrappedBuffer(answer), i == 3));
            }
        });
        long before = stored(attack);
        byte[] body = new byte[bytes];
        int number = 0;
        for (RawHttp1 caller : attack.connected(callers,
                () -> RawHttp1.connect(attack.target, attack.address(), attack.host()))) {
            String source = "source" + number++;
            attack.inTurn(1000, () -> {
                caller.lines("POST /webhooks/argo/" + source + "/x HTTP/1.1", "Host: " + attack.host(),
                        "Content-Length: " + bytes, "").write(body);
                String head = caller.head();
                attack.answered(head);
                caller.in().skipNBytes(RawHttp1.length(head));
            });
        }
        arrived(attack, deliveries);
        bounded(attack, stored(attack) - before, deliveries.get() * KEPT_BYTES);
        if (attack.target.api("GET", "/webhooks?account=bob&name=prod&state=delivered&limit=100", "")
                .contains("\"replayable\":false")) {
            attack.fault("webhooks of another runtime can't be replayed any more");
        }
    }

    /** Waits until the attack's time is over, and something has reached its event source: else it is no attack. */
    private static void arrived(Attack attack, AtomicInteger deliveries) {
        attack.awaitEnd();
        long deadline = System.nanoTime() + ARRIVAL.toNanos();
        while (deliveries.get() == 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        attack.note(deliveries + " deliveries");
        if (deliveries.get() == 0) {
            attack.fault("no webhook reached its event source: this is no attack");
        }
    }

    /** @param kept what is kept of webhooks beside their content */
    private static void bounded(Attack attack, long growth, long kept) {
        long bound = HostileServer.RUNTIME_BYTES + HostileServer.DELIVERED_BYTES + kept;
        attack.note("the disk holds " + (growth >> 20) + " MiB more");
        if (growth > bound + SLACK_BYTES) {
            attack.fault("the disk holds " + growth + " bytes more, allowed are " + bound);
        }
    }

    /** Bytes of the server's files. */
    private static long stored(Attack attack) throws IOException {
        long bytes = 0;
        try (var files = Files.walk(attack.target.folder().resolve("data"))) {
            for (Path file : (Iterable<Path>) files::iterator) {
                try {
                    bytes += Files.isRegularFile(file) ? Files.size(file) : 0;
                } catch (NoSuchFileException e) {
                    // its webhook is delivered
                }
            }
        }
        return bytes;
    }

    private static void drip(Attack attack, RawTunnel tunnel, int stream) throws IOException {
        tunnel.send(RawTunnel.head(stream, 0, new HeadBlock().field(":status", "200")));
        while (attack.isOpen()) {
            tunnel.send(new Frame.Data(stream, Unpooled.wrappedBuffer(new byte[1]), false));
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private static void post(RawHttp2 caller, String host, String path) throws IOException {
        int stream = caller.open(HeadBlock.request("POST", host, path), false);
        caller.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, new byte[]{'x'});
    }
}

package dev.culvert.e2e.hostile;

import static dev.culvert.e2e.hostile.Target.HONEST;

import dev.culvert.protocol.frame.Frame;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What anonymous callers and hostile event sources do to the inbox. */
final class WebhookScenarios {
    private static final String CALLERS = "127.0.4.1";
    /** Of a slow event source between two bytes. */
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final int STREAMS_OF_A_CONNECTION = 90;

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
                        WebhookScenarios::poison));
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
        attack.awaitEnd();
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
        attack.awaitEnd();
    }

    private static List<RawHttp2> connected(Attack attack, double webhooks) throws InterruptedException {
        return attack.connected(Math.ceil(webhooks / STREAMS_OF_A_CONNECTION),
                () -> RawHttp2.connect(attack.target, CALLERS, HONEST));
    }

    /** Of each of the attacker's runtimes as many sources as slots that one runtime may have. */
    private static void dripping(Attack attack, double sources) throws Exception {
        var number = new AtomicInteger();
        var deliveries = new AtomicInteger();
        for (int runtime = 0; runtime < Target.ATTACKERS_RUNTIMES; runtime++) {
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
        attack.awaitEnd();
        attack.note(deliveries + " deliveries");
        if (deliveries.get() == 0) {
            attack.fault("no webhook reached its event source: this is no attack");
        }
    }

    /** One webhook a second fails for ever, in the line of those that don't. */
    private static void poison(Attack attack, double perSecond) throws Exception {
        RawHttp2 caller = attack.connected(1, () -> RawHttp2.connect(attack.target, CALLERS, HONEST))
                .getFirst();
        attack.paced(perSecond, () -> {
            int stream = caller.open(HeadBlock.request("POST", HONEST, "/webhooks/argo/push0/x"), false);
            caller.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream,
                    HonestTenant.POISON.getBytes(StandardCharsets.US_ASCII));
        });
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

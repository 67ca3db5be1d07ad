package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.TlsCaller;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Callers that are slow, and runtimes that may not be fast. */
class SlowCallersIT {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final CallerLimits USUAL = CallerLimits.defaults();

    private EdgeFixture edge = new EdgeFixture();
    private TlsCaller caller = edge.caller();

    private void limits(CallerLimits limits) {
        close();
        edge = new EdgeFixture(limits);
        caller = edge.caller();
    }

    @AfterEach
    void close() {
        caller.close();
        edge.close();
    }

    @Test
    void aBodyThatDripsIs408() throws Exception {
        limits(USUAL.within(LONG, Duration.ofSeconds(1), LONG, LONG)
                .cutting(new ByteSize(1000), Duration.ZERO));
        caller.head("POST /", "Content-Length: 100000");
        caller.send("a");
        FakeRelay.Exchange exchange = edge.relay.next();

        await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(200)).until(() -> {
            if (exchange.cancelled == null) {
                caller.send("a");
            }
            return exchange.cancelled != null;
        });

        assertThat(caller.readUntil("}")).startsWith("HTTP/1.1 408").contains("Connection: close");
    }

    @Test
    void aCallerThatTakesNothingIsResetWhereThatIsConfigured() throws Exception {
        limits(USUAL.cutting(new ByteSize(0), Duration.ofSeconds(1)));
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false);

        for (int i = 0; i < 64; i++) {
            exchange.body(1 << 20); // more than any socket buffer holds
        }

        await().atMost(Duration.ofSeconds(20)).until(() -> exchange.cancelled != null);
        await().until(() -> edge.active() == 0);
    }

    @Test
    void aRuntimesBytesWaitForTheirPaceInBothDirections() throws Exception {
        edge.quotas.change(new OwnLimits(Map.of(RuntimeLimit.BYTES_PER_SECOND, 100_000L)));
        long began = System.nanoTime();
        caller.head("POST /", "Content-Length: 50000").send("a".repeat(50_000));
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.awaitEnd();
        long sent = System.nanoTime();
        assertThat(exchange.receivedBytes).hasValue(50_000);
        assertThat(Duration.ofNanos(sent - began)).isGreaterThan(Duration.ofMillis(400));

        exchange.ok("b".repeat(50_000));

        assertThat(caller.readUntil("b".repeat(50_000))).startsWith("HTTP/1.1 200");
        assertThat(Duration.ofNanos(System.nanoTime() - sent)).isGreaterThan(Duration.ofMillis(400));
    }
}

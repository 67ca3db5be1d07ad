package dev.culvert.relay.quota;

import static dev.culvert.relay.testing.FrameCaller.PING;
import static dev.culvert.relay.testing.FrameCaller.RST_STREAM;
import static dev.culvert.relay.testing.FrameCaller.SETTINGS;
import static dev.culvert.relay.testing.FrameCaller.WINDOW_UPDATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FrameCaller;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Responses that are complete, and that their caller does not read: their bytes stay counted until it does. */
class UnreadResponsesIT {
    private static final int RESPONSES = 20;
    private static final String BODY = "x".repeat(3000);
    private static final SourceAddress CALLER = SourceAddress.of(InetAddress.getLoopbackAddress());

    private EdgeFixture edge = new EdgeFixture();

    @AfterEach
    void close() {
        edge.close();
    }

    /** A caller with windows of 0 bytes, whose requests have all been answered. */
    private FrameCaller answered() {
        edge.relay.answer(exchange -> exchange.ok(BODY));
        FrameCaller caller = edge.http2();
        caller.send(SETTINGS, 0, 0, new byte[]{0, 4, 0, 0, 0, 0});
        for (int i = 0; i < RESPONSES; i++) {
            caller.get(1 + 2 * i, "/");
        }
        for (int i = 0; i < RESPONSES; i++) {
            caller.head(1 + 2 * i);
        }
        caller.send(PING, 0, 0, new byte[8]).next(frame -> frame.type() == PING);
        return caller;
    }

    private long used() {
        return edge.quotas.memory().used();
    }

    @Test
    void completeResponsesStayCountedUntilTheyAreRead() {
        try (FrameCaller caller = answered()) {
            await().untilAsserted(() -> assertThat(edge.active()).isZero());
            assertThat(used()).isGreaterThanOrEqualTo((long) RESPONSES * BODY.length());
            assertThat(edge.quotas.memory().sources().usedBy(CALLER))
                    .isGreaterThanOrEqualTo((long) RESPONSES * BODY.length());

            for (int i = 0; i < RESPONSES; i++) {
                caller.number(WINDOW_UPDATE, 1 + 2 * i, BODY.length());
                assertThat(caller.body(1 + 2 * i)).isEqualTo(BODY);
            }
            await().untilAsserted(() -> assertThat(used()).isZero());
        }
    }

    @Test
    void callersThatLeaveFreeThem() {
        answered().close();

        await().untilAsserted(() -> assertThat(used()).isZero());
    }

    @Test
    void aCompleteResponseThatNobodyReadsIsReset() {
        edge.close();
        edge = new EdgeFixture(CallerLimits.defaults().cutting(new ByteSize(0), Duration.ofMillis(300)));
        try (FrameCaller caller = answered()) {
            Set<Integer> reset = new HashSet<>(); // those due at the same time come in any order
            while (reset.size() < RESPONSES) {
                reset.add(caller.next(frame -> frame.type() == RST_STREAM).stream());
            }
            await().untilAsserted(() -> assertThat(used()).isZero());
        }
    }
}

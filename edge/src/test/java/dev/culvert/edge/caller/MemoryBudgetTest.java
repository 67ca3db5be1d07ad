package dev.culvert.edge.caller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.edge.caller.RuntimeUsage.Refusal;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the edge does when its memory is spent. */
class MemoryBudgetTest {
    private static final int MAX = 1 << 20;
    private static final String GET = "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n";
    private static final String POST = "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 100000\r\n\r\n";

    private final AtomicLong direct = new AtomicLong();
    private final MemoryBudget budget = new MemoryBudget(MAX, direct::get, 8 * MAX);
    private final MemoryShare share = new MemoryShare(budget);
    private final EmbeddedEdge edge = new EmbeddedEdge(CallerLimits.defaults(), budget);

    @AfterEach
    void close() {
        edge.close();
        budget.tick();
        assertThat(budget.used()).isZero();
    }

    private void fill(int bytes) {
        budget.take(bytes);
    }

    private void empty(int bytes) {
        budget.give(bytes);
        budget.tick();
    }

    @Test
    void itIsSpentUntilItHasFallenToThreeQuarters() {
        budget.take(MAX - 1);
        assertThat(budget.isSpent()).isFalse();
        budget.take(1);
        assertThat(budget.isSpent()).isTrue();

        empty(MAX / 4 - 1);
        assertThat(budget.isSpent()).isTrue();
        empty(1);
        assertThat(budget.isSpent()).isFalse();
        empty(MAX / 4 * 3);
    }

    @Test
    void itIsSpentWhenTheAllocatorHasTakenMostOfTheDirectMemory() {
        direct.set(7L * MAX);
        budget.tick();
        assertThat(budget.isSpent()).isTrue();

        direct.set(6L * MAX + 1);
        budget.tick();
        assertThat(budget.isSpent()).isTrue();
        direct.set(6L * MAX);
        budget.tick();
        assertThat(budget.isSpent()).isFalse();
    }

    @Test
    void aRuntimeIsFullAtHalfOfItAndTheOthersGoOn() {
        share.take(MAX / 2);

        assertThat(share.isSpent()).isTrue();
        assertThat(new MemoryShare(budget).isSpent()).isFalse();
        assertThat(budget.isSpent()).isFalse();
        share.give(MAX / 8);
        assertThat(share.isSpent()).isFalse();
        share.give(MAX / 8 * 3);
    }

    @Test
    void aNewRequestIs503WhileItIsSpentAndIsServedAfterwards() {
        edge.relay.answer(exchange -> exchange.ok("ok"));
        fill(MAX);

        assertThat(edge.send(GET)).startsWith("HTTP/1.1 503")
                .contains("overloaded", "\"hop\":\"edge\"", "retry-after: 1\r\n");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.usage().refusals(Refusal.MEMORY)).isEqualTo(1);
        empty(MAX);
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
    }

    @Test
    void aCallerIsNotReadWhileItIsSpent() {
        edge.send(POST);
        fill(MAX);
        edge.send("a");
        assertThat(edge.isReading()).isFalse();

        empty(MAX);

        assertThat(edge.send("b")).isEmpty();
        assertThat(edge.isReading()).isTrue();
        edge.send("c".repeat(99_998));
        assertThat(edge.only().receivedBytes).hasValue(100_000);
    }

    @Test
    void aRuntimeGetsNoGrantsWhileItIsSpent() {
        edge.send(GET);
        fill(MAX);
        edge.only().head("200", false).body(1000);
        edge.written();
        assertThat(edge.only().consumed).hasValue(0);

        empty(MAX);
        edge.written();

        assertThat(edge.only().consumed).hasValue(1000);
    }

    @Test
    void everyByteIsReportedAtTheEndThoughItIsSpent() {
        edge.send(GET);
        fill(MAX);
        edge.only().head("200", false).body(1000).body(500).end();
        edge.written();

        assertThat(edge.only().consumed).hasValue(1500);
        empty(MAX);
    }

    @Test
    void bytesCountFromTheSocketToTheSocket() {
        edge.relay.answer(exchange -> exchange.eager = false);
        edge.send(POST + "a".repeat(1000));
        assertThat(budget.used()).isEqualTo(1000);
        edge.only().passOn(400);
        assertThat(budget.used()).isEqualTo(600);
        edge.only().head("200", false).body(50);
        edge.written();

        assertThat(budget.used()).isEqualTo(600);
    }
}

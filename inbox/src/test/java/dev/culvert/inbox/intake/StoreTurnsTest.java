package dev.culvert.inbox.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.intake.StoreTurns.Turn;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whose webhook is stored next. */
class StoreTurnsTest {
    private static final SourceAddress A = new SourceAddress(1, false);
    private static final SourceAddress B = new SourceAddress(2, false);

    private final StoreTurns turns = new StoreTurns(100);
    private final List<Turn> begun = new ArrayList<>();
    private final List<String> order = new ArrayList<>();

    @Test
    void addressesTakeTurns() {
        Turn first = enter(A, 100, "a1");
        enter(A, 100, "a2");
        enter(A, 100, "a3");
        enter(B, 100, "b1");
        assertThat(order).containsExactly("a1");

        first.end();
        first.end();
        begun.get(1).end();
        begun.get(2).end();

        assertThat(order).containsExactly("a1", "a2", "b1", "a3");
        assertThat(turns.waiting()).isZero();
    }

    @Test
    void webhooksAndBytesAtOnceAreBounded() {
        for (int i = 0; i < StoreTurns.AT_ONCE + 10; i++) {
            enter(A, 0, "small");
        }
        assertThat(begun).hasSize(StoreTurns.AT_ONCE);
        assertThat(turns.waiting()).isEqualTo(10);

        var large = new StoreTurns(100);
        large.enter(A, 60, turn -> order.add("large"));
        large.enter(A, 41, turn -> order.add("larger"));
        assertThat(large.waiting()).isEqualTo(1);
    }

    @Test
    void oneAloneMayBeLargerThanTheBound() {
        enter(A, 1000, "large").end();
        enter(B, 1000, "large");

        assertThat(begun).hasSize(2);
    }

    @Test
    void whatGivesWayWaitsNoLonger() {
        Turn first = enter(A, 100, "a1");
        enter(A, 100, "a2").end();
        assertThat(turns.waiting()).isZero();

        first.end();

        assertThat(order).containsExactly("a1");
    }

    @Test
    void nothingWaitsOnceItIsClosed() {
        enter(A, 100, "a1");
        enter(A, 100, "a2");

        turns.close();
        enter(B, 100, "b1");

        assertThat(order).containsExactly("a1", "a2", "b1");
    }

    private Turn enter(SourceAddress source, long cost, String name) {
        return turns.enter(source, cost, turn -> {
            begun.add(turn);
            order.add(name);
        });
    }
}

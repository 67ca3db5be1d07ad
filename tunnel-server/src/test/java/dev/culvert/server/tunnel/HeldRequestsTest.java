package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.quota.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldRequestsTest {
    private final HeldRequests held = new HeldRequests(MemoryBudget.ofProcess(1L << 30));
    private final List<Integer> woken = new ArrayList<>();

    private boolean add(String runtime, int number) {
        return held.add(runtime, new Waiter(woken, number));
    }

    private record Waiter(List<Integer> woken, int number) implements Runnable {
        @Override
        public void run() {
            woken.add(number);
        }
    }

    @Test
    void theyAreWokenInTheirOrderAndOnce() {
        for (int i = 0; i < 5; i++) {
            add("a", i);
        }
        add("b", 9);
        held.remove("a", new Waiter(woken, 3));

        held.wake("a");
        held.wake("a");

        assertThat(woken).containsExactly(0, 1, 2, 4);
        assertThat(held.count()).isOne();
    }

    @Test
    void oneRuntimeHoldsItsShareOnly() {
        for (int i = 0; i < HeldRequests.MAX_OF_RUNTIME; i++) {
            assertThat(add("a", i)).isTrue();
        }

        assertThat(add("a", -1)).isFalse();
        assertThat(add("b", 1)).isTrue();
        held.wake("a");
        assertThat(held.count()).isOne();
        assertThat(add("a", 1)).isTrue();
    }

    @Test
    void allTogetherAreBounded() {
        int share = HeldRequests.MAX_OF_RUNTIME;
        for (int i = 0; i < HeldRequests.MAX_IN_ALL; i++) {
            assertThat(add("r" + i / share, i)).isTrue();
        }

        assertThat(add("one more", 1)).isFalse();
        assertThat(held.count()).isEqualTo(HeldRequests.MAX_IN_ALL);
        held.remove("r0", new Waiter(woken, 0));
        assertThat(add("one more", 1)).isTrue();
    }

    @Test
    void keptBytesAreBounded() {
        int half = (int) (HeldRequests.MAX_KEPT_BYTES / 2);
        assertThat(held.keep(half)).isTrue();
        assertThat(held.keep(half)).isTrue();

        assertThat(held.keep(1)).isFalse();
        held.forget(half);
        assertThat(held.keep(1)).isTrue();
        assertThat(held.keptBytes()).isEqualTo(half + 1);
    }
}

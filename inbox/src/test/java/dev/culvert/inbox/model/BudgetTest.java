package dev.culvert.inbox.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who may take how much. */
class BudgetTest {
    private final Budget budget = new Budget(100, 25);

    @Test
    void aRuntimeHasItsShareAndOthersTheRest() {
        Budget.Held first = taken(budget.take("a", 20));
        assertThat(budget.take("a", 6)).isNull();
        assertThat(budget.take("b", 25)).isNotNull();
        assertThat(budget.used()).isEqualTo(45);

        first.release();
        first.release();
        assertThat(budget.used()).isEqualTo(25);
        assertThat(budget.take("a", 25)).isNotNull();
    }

    @Test
    void oneAloneFitsInAnyShareButNotBeyondAll() {
        assertThat(budget.take("a", 101)).isNull();
        Budget.Held large = taken(budget.take("a", 90));

        assertThat(budget.take("b", 11)).isNull();
        assertThat(large.grow(1)).isFalse();
        large.shrink(10);
        assertThat(budget.used()).isEqualTo(10);
        assertThat(large.grow(15)).isTrue();
        assertThat(large.grow(1)).isFalse();
        assertThat(budget.used()).isEqualTo(25);
    }

    @Test
    void halfIsLeftWhileNeitherAllNorTheShareIsMoreThanHalfUsed() {
        Budget.Held some = taken(budget.take("a", 12));
        assertThat(some.leavesHalf()).isTrue();
        assertThat(some.grow(1)).isTrue();
        assertThat(some.leavesHalf()).isFalse();
        some.shrink(1);
        taken(budget.take("b", 50));
        assertThat(some.leavesHalf()).isFalse();
    }

    private static Budget.Held taken(Budget.@Nullable Held held) {
        return Objects.requireNonNull(held, "there is enough");
    }
}

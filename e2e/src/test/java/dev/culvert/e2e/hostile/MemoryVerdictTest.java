package dev.culvert.e2e.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryVerdictTest {
    private static final List<String> KINDS = List.of(Watch.DIRECT, Watch.LIVE);
    private static final Map<String, Double> QUIET = Map.of(Watch.DIRECT, 5e6, Watch.LIVE, 30e6);

    @Test
    void growthWithinThreeBudgetsPasses() {
        assertThat(MemoryVerdict.of(KINDS, QUIET,
                Map.of(Watch.MAX, 10e6, Watch.DIRECT, 35e6, Watch.LIVE, 60e6))).isEmpty();
    }

    @Test
    void growthBeyondThreeBudgetsFails() {
        assertThat(MemoryVerdict.of(KINDS, QUIET,
                Map.of(Watch.MAX, 10e6, Watch.DIRECT, 36e6, Watch.LIVE, 61e6)))
                .containsExactly("direct memory grew from 5 to 34 MiB, with a budget of 10",
                        "heap after collection memory grew from 29 to 58 MiB, with a budget of 10");
    }

    @Test
    void whatWasNotMeasuredFails() {
        assertThat(MemoryVerdict.of(KINDS, QUIET, Map.of(Watch.MAX, 10e6, Watch.DIRECT, 5e6)))
                .containsExactly("heap after collection memory was not measured");
        assertThat(MemoryVerdict.of(KINDS, QUIET, Map.of(Watch.DIRECT, 5e6)))
                .containsExactly("the memory budget is not in the metrics");
    }

    @Test
    void theMetricsOfAServerAreRead() {
        assertThat(Watch.metrics("""
                # HELP culvert_memory_budget_bytes bodies and heads
                jvm_memory_used_bytes{area="heap",id="Eden Space"} 1000.0
                jvm_memory_used_bytes{area="heap",id="Tenured Gen"} 24.0
                jvm_memory_used_bytes{area="nonheap",id="Metaspace"} 9.0
                netty_allocator_memory_used{allocator_type="PooledByteBufAllocator",memory_type="direct"} 4096
                netty_allocator_memory_used{allocator_type="PooledByteBufAllocator",memory_type="heap"} 7
                culvert_memory_budget_bytes{kind="max"} 3.1457280E7
                culvert_memory_budget_bytes{kind="used"} 12
                culvert_buffered_bytes 3
                """)).isEqualTo(Map.of(Watch.HEAP, 1024.0, Watch.DIRECT, 4096.0, Watch.MAX, 31457280.0,
                Watch.USED, 12.0, Watch.BUFFERED, 3.0));
    }
}

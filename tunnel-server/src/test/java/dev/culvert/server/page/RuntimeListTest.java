package dev.culvert.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.web.FormFields;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pages of a list of 10,000 runtimes. */
class RuntimeListTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");
    private static final int COUNT = 10_000;

    private final List<RegisteredRuntime> runtimes = runtimes();
    private final AtomicInteger looks = new AtomicInteger();
    private final FakeTunnels tunnels = new FakeTunnels();
    private final RuntimeRows rows = new RuntimeRows(store(), tunnels,
            new RuntimeQuotas(CallerLimits.defaults().ofRuntime(), MemoryBudget.ofProcess(0)));

    private static List<RegisteredRuntime> runtimes() {
        List<RegisteredRuntime> all = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            all.add(new RegisteredRuntime("id" + i, "identity" + i, new RuntimeName("acme", "r" + i),
                    "acme-r" + i + ".t.example", List.of(), NOW));
        }
        all.sort(Comparator.comparing(RegisteredRuntime::name));
        return all;
    }

    /** A store that knows only the list of all runtimes, and counts who asks for it. */
    private RuntimeStore store() {
        return (RuntimeStore) Proxy.newProxyInstance(RuntimeStore.class.getClassLoader(),
                new Class<?>[]{RuntimeStore.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("runtimes");
                    looks.incrementAndGet();
                    return runtimes;
                });
    }

    private RuntimeList list(Map<String, List<String>> query) {
        return RuntimeList.of(new FormFields(query), rows, NOW, false, "1-2", "token");
    }

    @Test
    void aPageIsReadOnceFromMemory() {
        RuntimeList list = list(Map.of("page", List.of("3")));

        assertThat(list.rows()).hasSize(RuntimeList.PAGE);
        assertThat(list.matching()).isEqualTo(COUNT);
        assertThat(list.range()).isEqualTo("101–150 of 10\u202f000");
        assertThat(looks).hasValue(1);
    }

    @Test
    void theReverseOrderBeginsAtTheEnd() {
        assertThat(list(Map.of("sort", List.of("-name"))).rows().getFirst().name())
                .isEqualTo(runtimes.getLast().name());
    }

    @Test
    void theBusiestIsFirst() {
        tunnels.open.add(new SessionView("s", "id4711", 1, "open", NOW, 0.1, 7, "192.0.2.7:1", "0.1.0",
                NOW.plusSeconds(60)));

        assertThat(list(Map.of("sort", List.of("streams"))).rows().getFirst().name().name())
                .isEqualTo("r4711");
        assertThat(list(Map.of("sort", List.of("certificate"))).rows().getFirst().name().name())
                .isEqualTo("r4711");
        assertThat(list(Map.of("sort", List.of("state"))).rows()).hasSize(RuntimeList.PAGE);
    }

    @Test
    void aSearchFindsTheOneWithThisHost() {
        RuntimeList list = list(Map.of("q", List.of("ACME-R9999.")));

        assertThat(list.rows()).extracting(row -> row.name().name()).containsExactly("r9999");
    }
}

package dev.culvert.platform.runtimes.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.runtimes.store.Rewrapping.Outcome;
import dev.culvert.platform.runtimes.store.RuntimeTable.StoredSecrets;
import dev.culvert.store.SqliteLimits;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class RewrappingTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final int ACCOUNTS = 5;
    /** More than two pages. */
    private static final int RUNTIMES = 500;

    @TempDir
    Path folder;

    private final Reversal wrapping = new Reversal();
    private PlatformStore store;
    private Rewrapping rewrapping;

    /** Turns secrets round. The text of a key that is lost can't be unwrapped. */
    private static final class Reversal implements SecretWrapping {
        String key = "one";
        @Nullable
        String lost;

        @Override
        public Mono<String> key() {
            return Mono.fromSupplier(() -> key);
        }

        @Override
        public String wrap(String secret, String name, String by) {
            return prefix(by) + new StringBuilder(name + "|" + secret).reverse();
        }

        @Override
        public String unwrap(String text, String name) {
            String[] parts = text.split(":", 3);
            if (parts.length < 3) {
                return text;
            }
            if (parts[1].equals(lost)) {
                throw new Failed("no key " + lost);
            }
            String both = new StringBuilder(parts[2]).reverse().toString();
            assertThat(both).startsWith(name + "|");
            return both.substring(name.length() + 1);
        }

        @Override
        public String prefix(String by) {
            return "wrapped:" + by + ":";
        }
    }

    @BeforeEach
    void open() {
        store = Objects.requireNonNull(PlatformStore
                .open(folder.resolve("p.db"),
                        new ModuleTables(new LinkedHashMap<>(Map.of("runtimes", RuntimesSchema.VERSIONS))),
                        new SqliteLimits(100, Duration.ofSeconds(5)), Clock.systemUTC())
                .block(TIME));
        rewrapping = new Rewrapping(store, wrapping);
        change(connection -> {
            for (int i = 0; i < RUNTIMES; i++) {
                RuntimeTable.add(connection,
                        new StoredRuntime("a" + i % ACCOUNTS, "r" + i, null, false, StoredRuntime.TUNNEL,
                                false, "{}", "[]", "key" + i, 1, ServerState.READY, null, 1),
                        i % 2 == 0 ? null : new Credential("id", "hash" + i, Long.MAX_VALUE));
            }
            return true;
        });
    }

    @AfterEach
    void close() {
        store.close().block(TIME);
    }

    @Test
    void allAreWrappedByTheKeyInForce() {
        assertThat(run()).isEqualTo(new Outcome(RUNTIMES, 0, null));
        assertThat(left("one")).isEmpty();
        assertThat(run()).isNull();

        wrapping.key = "two";

        assertThat(run()).isEqualTo(new Outcome(RUNTIMES, 0, null));
        assertThat(left("two")).isEmpty();
        StoredSecrets first = left("none").getFirst();
        var secrets = new RuntimeSecrets(wrapping);
        assertThat(secrets.storeKey(first.account(), first.name(), first.storeKey())).isEqualTo("key0");
    }

    @Test
    void whatCantBeUnwrappedStaysAndIsReportedUntilItCan() {
        change(connection -> {
            StoredSecrets first = RuntimeTable.secrets(connection, "", "", "wrapped:", 1).getFirst();
            var secrets = new RuntimeSecrets(wrapping);
            RuntimeTable.rewrap(connection, first, new StoredSecrets(first.account(), first.name(),
                    secrets.wrapStoreKey(first.account(), first.name(), "old", "gone"), null));
            return true;
        });
        wrapping.lost = "gone";

        assertThat(run()).isEqualTo(new Outcome(RUNTIMES - 1, 1, "a0/r0: no key gone"));
        assertThat(rewrapping.troubles()).singleElement().asString().contains("a0/r0: no key gone");
        assertThat(run()).isEqualTo(new Outcome(0, 1, "a0/r0: no key gone"));
        wrapping.lost = null;
        assertThat(run()).isEqualTo(new Outcome(1, 0, null));
        assertThat(rewrapping.troubles()).isEmpty();
        assertThat(left("one")).isEmpty();
    }

    private @Nullable Outcome run() {
        return rewrapping.run().block(TIME);
    }

    /** The secrets that another key wraps, or none. */
    private List<StoredSecrets> left(String key) {
        return Objects.requireNonNull(store.read(connection -> RuntimeTable
                .secrets(connection, "", "", wrapping.prefix(key), RUNTIMES)).block(TIME));
    }

    private void change(Store.Work<Boolean> work) {
        store.change(work).block(TIME);
    }
}

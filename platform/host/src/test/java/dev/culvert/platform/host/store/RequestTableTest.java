package dev.culvert.platform.host.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.platform.host.store.RepeatableRequest.Repeated;
import dev.culvert.platform.host.store.RepeatableRequest.TooMany;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.Rows;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
class RequestTableTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final long NOW = 1_000_000_000_000L;
    private static final long MINUTE = 60_000;
    private static final long DAY = 24 * 60 * MINUTE;

    @TempDir
    Path folder;

    private final Engine engine;
    private final RequestTable requests;
    private PlatformStore store;

    RequestTableTest(Engine engine) {
        this.engine = engine;
        this.requests = new RequestTable(engine, 3, 10);
    }

    @BeforeEach
    void open() {
        store = TestStores.open(engine, folder, new ModuleTables(new LinkedHashMap<>()));
    }

    @AfterEach
    void close() {
        store.close().block(TIME);
    }

    @Test
    void aYoungRequestIsKeptHoweverManyFollow() {
        for (int i = 0; i < 9; i++) {
            make("a", "key " + i, NOW);
        }

        assertThatThrownBy(() -> make("a", "key 0", NOW + 14 * MINUTE)).isInstanceOf(Repeated.class);
    }

    @Test
    void tooManyYoungRequestsAreRefusedByName() {
        for (int i = 0; i < 10; i++) {
            make("a", "key " + i, NOW);
        }

        assertThatThrownBy(() -> make("a", "more", NOW + 14 * MINUTE)).isInstanceOf(TooMany.class)
                .hasMessageContaining("10 requests with an Idempotency-Key");
        make("b", "more", NOW);
        make("a", "more", NOW + 15 * MINUTE);
        assertThat(rows("a")).isEqualTo(3);
    }

    @Test
    void theLastOnesAreKeptForADay() {
        for (int i = 0; i < 5; i++) {
            make("a", "key " + i, NOW);
        }

        assertThatThrownBy(() -> make("a", "key 4", NOW + DAY - 1)).isInstanceOf(Repeated.class);
        make("a", "key 4", NOW + DAY);
        assertThat(rows("a")).isEqualTo(1);
    }

    /** A change that deleted rows of others would wait for their changes. */
    @Test
    void aChangeDeletesRowsOfItsOwnAccountOnly() {
        make("a", "old", NOW);
        make("b", "new", NOW + 2 * DAY);

        assertThat(rows("a")).isEqualTo(1);
    }

    @Test
    void theTimeIsTheDatabases() {
        long now = Objects.requireNonNull(store.read(requests::now).block(TIME));

        assertThat(Math.abs(now - System.currentTimeMillis())).isLessThan(DAY);
    }

    private void make(String account, String key, long now) {
        var request = new RepeatableRequest(account, "caller", key, "digest", made -> "{}");
        store.change(account, connection -> {
            requests.requireNew(connection, request, now);
            requests.add(connection, request, true, now);
            return true;
        }).block(TIME);
    }

    private long rows(String account) {
        return Objects.requireNonNull(store.read(connection -> Rows.count(connection,
                "SELECT count(*) FROM platform_requests WHERE account = ?", account)).block(TIME));
    }
}

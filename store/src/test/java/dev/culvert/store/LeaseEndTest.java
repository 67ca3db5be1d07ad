package dev.culvert.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a lease ends, transaction by transaction; two holders share one connection, as SQLite serializes them anyway. */
class LeaseEndTest {
    @TempDir
    Path folder;
    private final SteppedClock clock = new SteppedClock();
    private Connection connection;
    private SqliteLease old;
    private SqliteLease next;

    @BeforeEach
    void open() throws SQLException {
        Path file = folder.resolve("leased.db");
        connection = SqliteDatabase.connect(file);
        old = new SqliteLease(file, clock);
        next = new SqliteLease(file, clock);
        in(old::take);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void aLeaseGivenBackIsNotRenewed() throws SQLException {
        in(old::giveBack);

        assertThatThrownBy(() -> in(old::renew)).isInstanceOf(StoreException.Held.class);
        assertThatThrownBy(() -> in(old::check)).isInstanceOf(StoreException.Held.class);
        assertThatThrownBy(() -> in(old::take)).isInstanceOf(StoreException.Held.class);
        assertThatCode(() -> in(next::take)).doesNotThrowAnyException();
    }

    @Test
    void givingBackTwiceTakesNothingFromASuccessor() throws SQLException {
        in(old::giveBack);
        in(next::take);

        in(old::giveBack);

        assertThatCode(() -> in(next::renew)).doesNotThrowAnyException();
    }

    @Test
    void anEndedLeaseThatNobodyTookGoesOn() throws SQLException {
        clock.now = clock.now.plus(SqliteLease.LIFE);

        in(old::renew);

        assertThatCode(() -> in(old::check)).doesNotThrowAnyException();
        assertThatThrownBy(() -> in(next::take)).isInstanceOf(StoreException.Held.class);
        assertThat(fence()).isEqualTo(2);
    }

    @Test
    void anEndedLeaseThatAnotherTookIsLost() throws SQLException {
        clock.now = clock.now.plus(SqliteLease.LIFE);
        in(next::take);

        assertThatThrownBy(() -> in(old::renew)).isInstanceOf(StoreException.Held.class);
        in(old::giveBack);
        clock.now = clock.now.plus(Duration.ofSeconds(1));
        assertThatCode(() -> in(next::renew)).doesNotThrowAnyException();
        assertThat(fence()).isEqualTo(2);
    }

    private interface Step {
        void run(Connection connection) throws SQLException;
    }

    private void in(Step step) throws SQLException {
        SqliteDatabase.transaction(connection, own -> {
            step.run(own);
            return own;
        });
    }

    private long fence() throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT fence FROM lease")) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }

    private static final class SteppedClock extends Clock {
        private Instant now = Instant.parse("2026-01-02T03:04:05Z");

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }
}

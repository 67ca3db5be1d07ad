package dev.culvert.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file's first start, which may end before its tables are made. */
class FirstStartTest {
    private static final Duration TIME = Duration.ofSeconds(30);
    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("first.db");
    }

    @Test
    void aFailedFirstStartLeavesAUsableFile() {
        assertThatThrownBy(() -> open("CREATE TABLE things (")).isInstanceOf(StoreException.Failed.class);

        open("CREATE TABLE things (x)").close().block(TIME);
    }

    @Test
    void tablesOfAnotherProgramBesideALeaseAreRefused() throws SQLException {
        try (Connection connection = SqliteDatabase.connect(file)) {
            SqliteLease.prepare(connection);
            SqliteDatabase.update(connection, "CREATE TABLE theirs (x)");
        }

        assertThatThrownBy(() -> open("CREATE TABLE things (x)"))
                .hasMessageContaining("it holds tables of another program");

        try (Connection connection = SqliteDatabase.connect(file)) {
            assertThat(SqliteSchema.has(connection, "things")).isFalse();
        }
    }

    private SqliteDatabase open(String statement) {
        return Objects.requireNonNull(SqliteDatabase
                .open(file, new SqliteSchema(List.of(List.of(statement)), "things"),
                        new SqliteLimits(100, Duration.ofSeconds(5)), Clock.systemUTC())
                .block(TIME));
    }
}

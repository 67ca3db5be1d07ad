package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator is told about a data folder that can't be used. */
class DatabaseTroubleTest {
    private static final StoreLimits LIMITS = new StoreLimits(10, 2, 2, 100, Duration.ofMillis(100));

    @TempDir
    Path folder;

    @Test
    void aDatabaseOfANewerVersionNamesItsVersion() throws SQLException {
        make();
        sql("UPDATE schema_version SET version = 1000");

        refused(folder).hasMessageContaining("1000").hasMessageContaining("a newer culvert wrote");
    }

    @Test
    void aDatabaseOfAnotherProgramIsRefusedAndKept() throws SQLException {
        sql("CREATE TABLE notes (text TEXT)");

        refused(folder).hasMessageContaining("tables of another program");

        sql("INSERT INTO notes VALUES ('still here')");
        assertThatThrownBy(() -> sql("SELECT * FROM runtimes")).hasMessageContaining("no such table");
    }

    @Test
    void tablesOfTheSameNamesWithOtherColumnsAreNotCulverts() throws SQLException {
        sql("CREATE TABLE schema_version (version INTEGER)");
        sql("CREATE TABLE runtimes (x)");

        refused(folder).hasMessageContaining("is not a database of Culvert's");
    }

    @Test
    void aFileThatIsNoDatabaseIsRefusedAndKept() throws IOException {
        Files.writeString(folder.resolve("culvert.db"),
                "notes of the operator, not a database\n".repeat(100));

        refused(folder).hasMessageContaining("is no database, or is damaged");

        assertThat(folder.resolve("culvert.db")).content().startsWith("notes");
    }

    @Test
    void aDamagedDatabaseIsToldSo() throws IOException {
        make();
        try (var file = new RandomAccessFile(folder.resolve("culvert.db").toFile(), "rw")) {
            file.seek(100);
            file.write(new byte[(int) file.length() - 100]);
        }

        refused(folder).hasMessageContaining("is no database, or is damaged");
    }

    @Test
    void aNameThatCulvertWouldNotStoreIsToldSo() throws SQLException {
        make();
        sql("INSERT INTO runtimes (id, account, name, label, created) VALUES ('1', 'NOT A NAME', 'x', 'y', 0)");

        refused(folder).hasMessageContaining("can't be used").hasMessageContaining("NOT A NAME");
    }

    @Test
    void aFileInTheWayOfTheFolderIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "x");

        refused(file).hasMessageContaining(file + " is a file (expected: a folder");
        refused(file.resolve("data")).hasMessageContaining(file + " is a file (expected: a folder");
    }

    @Test
    void aFolderInPlaceOfTheDatabaseIsRefused() throws IOException {
        Files.createDirectory(folder.resolve("culvert.db"));

        refused(folder).hasMessageContaining("can't be written");
    }

    @Test
    void aFolderThatCanNotBeWrittenIsRefused() throws IOException {
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-x------"));
        assumeThat(Files.isWritable(closed)).as("root may write everywhere").isFalse();

        refused(closed).hasMessageContaining("(expected: a folder that this user may write to");
        refused(closed.resolve("below"))
                .hasMessageContaining("(expected: a folder that this user may write to");
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> refused(Path dataDir) {
        return assertThatThrownBy(() -> open(dataDir)).isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("(expected: ")
                .hasMessageNotContainingAny("Exception", "SQLITE_");
    }

    private void make() {
        open(folder).close().block();
    }

    private static RuntimeStore open(Path dataDir) {
        return await(SqliteRuntimeStore.open(dataDir, "t.example", LIMITS, Clock.systemUTC()));
    }

    private void sql(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("culvert.db"));
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}

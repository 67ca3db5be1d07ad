package dev.culvert.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.store.Database;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.LockScope;
import dev.culvert.store.Rows;
import dev.culvert.store.SchemaParts;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.testing.TestServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** What a start finds on the server. */
class PostgresSchemaTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String FIRST = "CREATE TABLE things (name TEXT PRIMARY KEY)";
    private static final String SECOND = "ALTER TABLE things ADD COLUMN size BIGINT NOT NULL DEFAULT 7";

    @Test
    void onlyNewVersionsAreApplied() {
        DatabaseServer server = TestServer.database();
        Database old = open(server, schema(List.of(List.of(FIRST))));
        old.transact(LockScope.ALL, connection -> Rows.update(connection, "INSERT INTO things VALUES ('a')"),
                same -> same).block(TIME);
        old.close().block(TIME);

        Database present = open(server, schema(List.of(List.of(FIRST), List.of(SECOND))));

        assertThat(present.read(connection -> Rows.count(connection, "SELECT size FROM things")).block(TIME))
                .isEqualTo(7);
        present.close().block(TIME);
    }

    @Test
    void twoProcessesThatMigrateAtOnceDoItOnce() {
        DatabaseServer server = TestServer.database();
        SchemaParts slow = schema(List.of(List.of(FIRST, "SELECT pg_sleep(0.5)"), List.of(SECOND)));

        List<PostgresDatabase> opened = Objects.requireNonNull(
                Flux.range(0, 4).flatMap(i -> PostgresDatabase.open(server, slow)).collectList().block(TIME));

        assertThat(opened).hasSize(4);
        opened.forEach(each -> each.close().block(TIME));
    }

    @Test
    void aNewerDatabaseIsRefused() {
        DatabaseServer server = TestServer.database();
        open(server, schema(List.of(List.of(FIRST), List.of(SECOND)))).close().block(TIME);

        assertThatThrownBy(() -> open(server, schema(List.of(List.of(FIRST)))))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("version 2 of the tables of things, which a newer culvert wrote"
                        + " (expected: at most 1");
    }

    @Test
    void anEditedVersionIsRefused() {
        DatabaseServer server = TestServer.database();
        open(server, schema(List.of(List.of(FIRST)))).close().block(TIME);

        assertThatThrownBy(() -> open(server, schema(List.of(List.of(FIRST, SECOND)))))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("the tables of things can't be migrated")
                .hasMessageContaining("checksum mismatch");
    }

    @Test
    void tablesOfAnotherProgramStay() {
        DatabaseServer server = TestServer.database();
        TestServer.execute(server.database(), "CREATE TABLE invoices (id INTEGER)");

        assertThatThrownBy(() -> open(server, schema(List.of(List.of(FIRST)))))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining(
                        "it holds tables of another program, as invoices (expected: a database of"
                                + " Culvert's, or an empty one)");
    }

    @Test
    void aRoleWithoutRightsNamesTheRightAndTheObject() {
        DatabaseServer server = TestServer.database();
        String database = server.database();
        TestServer.execute(database, "CREATE ROLE weak LOGIN");
        DatabaseServer weak = TestServer.at(database, "weak");

        assertThatThrownBy(() -> open(weak, schema(List.of(List.of(FIRST)))))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("the role weak")
                .hasMessageContaining("permission denied for schema public")
                .hasMessageContaining("expected: CREATE and USAGE on the schema");

        open(server, schema(List.of(List.of(FIRST)))).close().block(TIME);
        TestServer.execute(database, "GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA public TO weak");
        assertThatThrownBy(() -> open(weak, schema(List.of(List.of(FIRST)))))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("the role weak lacks the right UPDATE on the table things");

        TestServer.execute(database, "GRANT UPDATE ON ALL TABLES IN SCHEMA public TO weak");
        open(weak, schema(List.of(List.of(FIRST)))).close().block(TIME);
    }

    @Test
    void aServerThatIsAwayOrUnwillingIsNamed() {
        DatabaseServer there = TestServer.database();
        assertThatThrownBy(() -> open(with(there, "127.0.0.1:1", "x"), schema(List.of(List.of(FIRST)))))
                .isInstanceOf(StoreException.Away.class)
                .hasMessageContaining("the PostgreSQL database x at 127.0.0.1:1 can't be reached");
        assertThatThrownBy(() -> open(with(there, there.hosts(), "absent"), schema(List.of(List.of(FIRST)))))
                .hasMessageContaining("database \"absent\" does not exist"
                        + " (expected: a database that exists; create it with CREATE DATABASE)");
        assertThatThrownBy(
                () -> open(TestServer.at(there.database(), "nobody"), schema(List.of(List.of(FIRST)))))
                .hasMessageContaining("role \"nobody\" does not exist (expected: user and"
                        + " passwordFile that the server accepts)");
    }

    private static DatabaseServer with(DatabaseServer there, String hosts, String database) {
        return new DatabaseServer(hosts, database, there.user(), null, true, null, 2, 10,
                Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofMillis(600));
    }

    private static Database open(DatabaseServer server, SchemaParts schema) {
        return Objects.requireNonNull(PostgresDatabase.open(server, schema).block(TIME));
    }

    private static SchemaParts schema(List<List<String>> versions) {
        var parts = new LinkedHashMap<String, List<List<String>>>();
        parts.put("things", versions);
        return new SchemaParts(parts);
    }
}

package dev.culvert.platform.runtimes.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.store.Rows;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages of 50,000 runtimes, half of them of one account. */
class RuntimePagesTest {
    private static final int RUNTIMES = 50_000;
    private static final String BIG = "6791f6184c56bd51c65784a2";

    @TempDir
    static Path folder;
    private static Connection connection;

    @BeforeAll
    static void fill() throws SQLException {
        connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("platform.db"));
        connection.setAutoCommit(false);
        for (List<String> version : RuntimesSchema.VERSIONS.sqlite()) {
            for (String statement : version) {
                Rows.update(connection, statement);
            }
        }
        for (int i = 0; i < RUNTIMES; i++) {
            String account = i % 2 == 0 ? BIG : "%024x".formatted(i);
            RuntimeTable.add(connection,
                    new StoredRuntime(account, "r%05d".formatted(i), "uid-" + i, false, "TUNNEL",
                            false, "{}", "[]", "key", i, ServerState.READY, null, 0),
                    null);
        }
        connection.commit();
    }

    @AfterAll
    static void close() throws SQLException {
        connection.close();
    }

    @Test
    void aPageHasItsRuntimesInOrder() throws SQLException {
        assertThat(RuntimeTable.page(connection, BIG, "r10000", 3)).extracting(StoredRuntime::name)
                .containsExactly("r10002", "r10004", "r10006");
        assertThat(RuntimeTable.pageBefore(connection, BIG, "r10000", 2)).extracting(StoredRuntime::name)
                .containsExactly("r09996", "r09998");
        assertThat(RuntimeTable.pageBefore(connection, BIG, "", 1)).extracting(StoredRuntime::name)
                .containsExactly("r49998");
        assertThat(RuntimeTable.all(connection, BIG, "r49998", 1)).extracting(StoredRuntime::name)
                .doesNotContain("r49998");
    }

    /** An index leads to the page's first row, and no row is sorted. */
    @ParameterizedTest
    @ValueSource(strings = {"account = 'a' AND name > 'b' ORDER BY name LIMIT 51",
            "account = 'a' AND name < 'b' ORDER BY name DESC LIMIT 51",
            "account = 'a' ORDER BY name DESC LIMIT 51", "account = 'a' AND name = 'b'",
            "account = 'a' AND cluster_uid = 'u'",
            "(account, name) > ('a', 'b') ORDER BY account, name LIMIT 500", "credential_end < 5"})
    void eachQueryUsesAnIndex(String condition) throws SQLException {
        StringBuilder plan = new StringBuilder();
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery(
                        "EXPLAIN QUERY PLAN SELECT * FROM runtimes_runtimes WHERE " + condition)) {
            while (row.next()) {
                plan.append(row.getString("detail")).append('\n');
            }
        }
        assertThat(plan.toString()).contains("SEARCH", "USING INDEX").doesNotContain("SCAN", "TEMP B-TREE");
    }
}

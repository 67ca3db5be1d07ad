package dev.culvert.platform.triggers.store;

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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TriggerPagesTest {
    @TempDir
    static Path folder;
    private static Connection connection;

    @BeforeAll
    static void open() throws SQLException {
        connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("platform.db"));
        for (List<String> version : TriggersSchema.VERSIONS.sqlite()) {
            for (String statement : version) {
                Rows.update(connection, statement);
            }
        }
    }

    @AfterAll
    static void close() throws SQLException {
        connection.close();
    }

    /** An index leads to the page's first row, and no row is sorted. */
    @ParameterizedTest
    @ValueSource(strings = {"triggers_event WHERE uri = 'u'",
            "triggers_event WHERE account = 'a' AND uri > 'u' ORDER BY uri LIMIT 201",
            "triggers_trigger WHERE account = 'a' AND event = 'e' ORDER BY pipeline",
            "triggers_trigger WHERE account = 'a' AND (event, pipeline) > ('e', 'p') ORDER BY event, pipeline LIMIT 201",
            "triggers_trigger WHERE account = 'a' AND pipeline = 'p' AND event > 'e' ORDER BY event LIMIT 201",
            "triggers_run WHERE account = 'a' AND id < 'i' ORDER BY id DESC LIMIT 201",
            "triggers_run WHERE account = 'a' AND event = 'e' AND id < 'i' ORDER BY id DESC LIMIT 201",
            "triggers_run WHERE account = 'a' AND pipeline = 'p' ORDER BY id DESC LIMIT 201",
            "triggers_run WHERE account = 'a' AND event = 'e' AND delivery = 'd' ORDER BY pipeline",
            "triggers_refusal WHERE account = 'a' AND id < 'i' ORDER BY id DESC LIMIT 201",
            "triggers_delivery WHERE account = 'a' AND place <= 5 ORDER BY place LIMIT 100",
            "triggers_clock WHERE due <= 5 ORDER BY due LIMIT 100"})
    void eachQueryUsesAnIndex(String query) throws SQLException {
        StringBuilder plan = new StringBuilder();
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("EXPLAIN QUERY PLAN SELECT * FROM " + query)) {
            while (row.next()) {
                plan.append(row.getString("detail")).append('\n');
            }
        }
        assertThat(plan.toString()).contains("SEARCH", "USING INDEX").doesNotContain("SCAN", "TEMP B-TREE");
    }
}

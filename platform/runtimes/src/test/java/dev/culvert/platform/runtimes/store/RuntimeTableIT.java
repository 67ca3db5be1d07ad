package dev.culvert.platform.runtimes.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.store.postgres.testing.TestServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

class RuntimeTableIT {
    private static final String DATABASE = "in_english";

    @Test
    void namesAreInTheOrderOfBytesWhateverTheLanguageOfTheDatabase() throws SQLException {
        TestServer.execute("postgres", "CREATE DATABASE " + DATABASE
                + " TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'");
        try (Connection connection = TestServer.connect(DATABASE)) {
            try (Statement statement = connection.createStatement()) {
                for (List<String> version : RuntimesSchema.VERSIONS.postgres()) {
                    for (String sql : version) {
                        statement.execute(sql);
                    }
                }
            }
            for (String name : List.of("ab", "a-c", "a1", "z")) {
                RuntimeTable.add(connection, new StoredRuntime("acme", name, null, false, "TUNNEL", false,
                        "{}", "[]", "k", 1, ServerState.READY, null, 1), null);
            }

            assertThat(names(RuntimeTable.pageBefore(connection, "acme", "", 9)))
                    .containsExactly("a-c", "a1", "ab", "z");
            assertThat(names(RuntimeTable.pageBefore(connection, "acme", "a1", 9))).containsExactly("a-c");
            assertThat(names(RuntimeTable.page(connection, "acme", "a1", 9))).containsExactly("ab", "z");
            assertThat(names(RuntimeTable.all(connection, "acme", "a-c", 9)))
                    .containsExactly("a1", "ab", "z");
        }
    }

    private static List<String> names(List<StoredRuntime> runtimes) {
        return runtimes.stream().map(StoredRuntime::name).toList();
    }
}

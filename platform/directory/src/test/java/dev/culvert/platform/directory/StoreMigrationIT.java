package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a file to a server. */
class StoreMigrationIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private final DatabaseServer server = TestServer.database();
    private ControlPlaneConfig config;
    private String admin = "";
    private String runtime = "";
    private long next;

    /** A file with one of each. */
    @BeforeEach
    void fill() throws Exception {
        config = ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, TestStore.at(server),
                ControlPlaneConfig.Nudge.none());
        try (var plane = ControlPlaneKit.start(folder)) {
            admin = plane.admin();
            runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
            String jo = plane.id(
                    plane.call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
            plane.id(plane.call("POST", "/api/teams", admin,
                    "{\"name\":\"ops\",\"members\":[\"" + jo + "\"]}"));
            plane.id(plane.call("POST", "/api/abac", admin,
                    "{\"entity\":\"workflows\",\"actions\":[\"VIEW\"],\"users\":[\"" + jo + "\"]}"));
            next = plane.json(plane.call("GET", "/api/changes", runtime, "")).path("next").longValue();
        }
    }

    @Test
    void allIsThereAndWorks() throws Exception {
        List<String> lines = migrate();

        assertThat(lines).contains("users: 2 rows", "api_keys: 2 rows", "teams: 1 rows",
                "team_members: 1 rows",
                "rules: 1 rows", "copied and compared; now set store.kind to postgres in control-plane.yaml");
        assertThat(folder.resolve("directory.db")).exists();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .noneMatch(name -> name.contains(".part"));
        }
        try (var plane = ControlPlaneKit.start(config, admin)) {
            assertThat(plane.json(plane.call("GET", "/api/users", admin, "")).path("items")).hasSize(2);
            assertThat(plane.resolve(runtime, admin).path("state").textValue()).isEqualTo("known");
            plane.id(plane.call("POST", "/api/users", admin, "{\"name\":\"Al\",\"email\":\"al@acme.test\"}"));
            var changes = plane.json(plane.call("GET", "/api/changes?since=" + next, runtime, ""));
            assertThat(changes.path("reset").booleanValue()).isFalse();
            assertThat(changes.path("next").longValue()).isEqualTo(next + 1);
        }
        assertThatThrownBy(this::migrate).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("has other content than the file");
    }

    @Test
    void aRepeatedRunChangesNothing() {
        List<String> first = migrate();

        List<String> second = migrate();

        assertThat(second.getLast()).isEqualTo("all was there already, and is the same");
        assertThat(second.subList(0, second.size() - 1)).isEqualTo(first.subList(0, first.size() - 1));
    }

    @Test
    void aDatabaseInUseIsRefused() throws Exception {
        try (var other = ControlPlaneKit.start(ControlPlaneConfig.of(new HostPort("127.0.0.1", 0),
                folder.resolve("other"), TestStore.at(server), ControlPlaneConfig.Nudge.none()), "")) {
            assertThat(other.call("GET", "/api/ping", "", "").statusCode()).isEqualTo(200);
        }

        assertThatThrownBy(this::migrate).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("expected: an empty database, or one that this file was copied to");
    }

    @Test
    void aRunningControlPlaneIsNotCopied() throws Exception {
        try (var running = ControlPlaneKit.start(folder, admin)) {
            assertThatThrownBy(this::migrate).isInstanceOf(StoreException.Held.class);
            assertThat(running.call("GET", "/api/me", admin, "").statusCode()).isEqualTo(200);
        }
        assertThat(migrate().getLast()).startsWith("copied and compared");
    }

    /** A run that was broken off has left nothing. */
    @Test
    void aRunThatFailsLeavesNothing() {
        migrate(); // makes the tables
        TestServer.execute(server.database(), "DELETE FROM platform_events; DELETE FROM accounts;"
                + " DELETE FROM token_keys; ALTER TABLE rules ADD CONSTRAINT no CHECK (entity = 'x')");
        assertThatThrownBy(this::migrate).isInstanceOf(StoreException.Failed.class);
        TestServer.execute(server.database(), "ALTER TABLE rules DROP CONSTRAINT no");

        assertThat(migrate().getLast()).startsWith("copied and compared");
    }

    private List<String> migrate() {
        return Objects.requireNonNull(ControlPlane.migrate(config).block(TIME));
    }
}

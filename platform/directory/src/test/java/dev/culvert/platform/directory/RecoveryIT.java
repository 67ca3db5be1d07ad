package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.spi.OperatorRecovery.Recovered;
import dev.culvert.store.Database;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way back of an operator who has no key. */
class RecoveryIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    @Test
    void anOperatorGetsANewKey() throws Exception {
        Path file = folder.resolve("recovered.key");
        try (ControlPlaneKit plane = ControlPlaneKit.start(folder)) {
            String first = plane.json(plane.call("GET", "/api/keys", plane.admin(), ""))
                    .path("items")
                    .path(0)
                    .path("id")
                    .textValue();
            assertThat(plane.call("DELETE", "/api/keys/" + first + "?force=true", plane.admin(), "")
                    .statusCode()).isEqualTo(204);
        }

        Recovered done = recover(file);

        assertThat(done.isNew()).isFalse();
        assertThat(done.others()).isZero();
        assertThat(done.email()).isEqualTo("admin@localhost");
        assertThat(Files.getPosixFilePermissions(file))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        String key = Files.readString(file).strip();
        assertThat(Files.readString(folder.resolve("audit-changes.log")))
                .contains("\"action\":\"RECOVER\"", "/api/keys/" + done.key(), done.user())
                .doesNotContain(key);
        try (ControlPlaneKit plane = ControlPlaneKit.start(folder, key)) {
            assertThat(plane.call("POST", "/api/accounts", key, "{\"name\":\"x\"}").statusCode())
                    .isEqualTo(201);
        }
    }

    @Test
    void anOperatorIsMadeWhereThereIsNone() throws Exception {
        ControlPlaneKit.start(folder).close();
        try (Connection connection = SqliteDatabase.connect(folder.resolve("directory.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("DELETE FROM users");
        }

        Recovered done = recover(folder.resolve("recovered.key"));

        assertThat(done.isNew()).isTrue();
        String key = Files.readString(folder.resolve("recovered.key")).strip();
        try (ControlPlaneKit plane = ControlPlaneKit.start(folder, key)) {
            assertThat(plane.call("GET", "/api/accounts", key, "").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void nothingIsDoneBesideARunningOneOrOverAFile() throws Exception {
        Path file = folder.resolve("recovered.key");
        ControlPlaneKit plane = ControlPlaneKit.start(folder);
        try {
            assertThatThrownBy(() -> recover(file)).isInstanceOf(StoreException.Held.class);
            assertThat(file).doesNotExist();
        } finally {
            plane.close();
        }
        Files.writeString(file, "mine");

        assertThatThrownBy(() -> recover(file)).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("exists already");

        assertThat(file).hasContent("mine");
        assertThat(Files.readString(folder.resolve("audit-changes.log"))).contains("\"decision\":\"failed\"");
        try (ControlPlaneKit again = ControlPlaneKit.start(folder, plane.admin())) {
            assertThat(again.json(again.call("GET", "/api/keys", plane.admin(), "")).path("items"))
                    .hasSize(1);
        }
    }

    /** Several processes may use such a database, so none has to stop. */
    @Test
    void aServersDatabaseIsRecoveredBesideARunningOne() throws Exception {
        ControlPlaneConfig config = ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder,
                TestStore.empty(Database.Engine.POSTGRES), ControlPlaneConfig.Nudge.none());
        try (ControlPlaneKit plane = ControlPlaneKit.start(config)) {
            Path file = folder.resolve("recovered.key");

            Recovered done = Objects.requireNonNull(ControlPlane.recover(config, file).block(TIME));

            assertThat(done.others()).isEqualTo(1);
            String key = Files.readString(file).strip();
            assertThat(plane.call("GET", "/api/accounts", key, "").statusCode()).isEqualTo(200);
            assertThat(plane.call("POST", "/api/token-keys", key, "{\"newWrappingKey\":true}").statusCode())
                    .isEqualTo(409);
            assertThat(plane.call("POST", "/api/token-keys", key, "{}").statusCode()).isEqualTo(201);
        }
    }

    private Recovered recover(Path to) {
        return Objects.requireNonNull(ControlPlane.recover(ControlPlaneKit.config(folder), to).block(TIME));
    }
}

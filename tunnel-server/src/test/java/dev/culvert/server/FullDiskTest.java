package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.admin.AdminHandler;
import dev.culvert.certs.Sha256;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk without any room, as a file system in memory: needs root, which may mount one. */
class FullDiskTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");

    @TempDir
    Path folder;
    private Path disk = Path.of("");

    @BeforeEach
    void mount() throws IOException {
        disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk.toString()),
                "only root may mount");
    }

    @AfterEach
    void unmount() throws IOException {
        assertThat(run("umount", disk.toString()) || Files.isDirectory(disk)).isTrue();
    }

    @Test
    void aRevocationDisconnectsAndIsStoredOnceThereIsRoom() throws IOException {
        RuntimeStore store = open();
        var name = new RuntimeName("acme", "prod");
        var runtime = new RegisteredRuntime("r1", "first", name, "prod.t.example", List.of(), NOW);
        store.create(runtime,
                new StoredToken("t1", Sha256.of(new byte[]{1}), "r1", NOW.plus(Duration.ofHours(1)),
                        null, null))
                .block();
        var tunnels = new FakeTunnels();
        tunnels.open.add(new SessionView("s1", "r1", 1, "open", NOW, 0.1, 0, "127.0.0.1:1", "test/1"));
        var registrar = new RuntimeRegistrar(store, tunnels, (id, expires) -> {
            throw new IllegalStateException("no token is made here");
        }, "t.example", Clock.systemUTC(), gone -> {});
        Path filler = fill();

        assertThatThrownBy(() -> await(registrar.revoke(name))).isInstanceOfSatisfying(
                StoreException.Failed.class,
                failed -> {
                    assertThat(failed.isDiskFull()).isTrue();
                    assertThat(AdminHandler.refusal(failed)).isInstanceOf(HandlerException.class)
                            .hasMessageContaining("not stored yet")
                            .hasMessageContaining("The disk is full");
                });
        assertThat(tunnels.open).isEmpty();
        assertThat(store.byIdentity("first")).isNull();

        Files.delete(filler);
        String identity = Objects.requireNonNull(store.byName(name)).identity();
        Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> stored().equals(identity));
        store.close().block();
    }

    private String stored() throws SQLException {
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + disk.resolve("culvert.db"));
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT identity FROM runtimes")) {
            return row.getString(1);
        }
    }

    private Path fill() throws IOException {
        Path filler = disk.resolve("filler");
        for (int chunk : new int[]{1 << 16, 1}) {
            try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND)) {
                while (true) {
                    out.write(new byte[chunk]);
                }
            } catch (IOException full) {
                assertThat(full).hasMessageContaining("No space left");
            }
        }
        return filler;
    }

    private RuntimeStore open() {
        return await(SqliteRuntimeStore.open(disk, "t.example", StoreLimits.defaults(), Clock.systemUTC()));
    }

    private static boolean run(String... command) throws IOException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

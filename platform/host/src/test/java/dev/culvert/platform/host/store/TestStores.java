package dev.culvert.platform.host.store;

import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;

/** Stores of both engines. */
final class TestStores {
    private static final Duration TIME = Duration.ofMinutes(1);

    private TestStores() {}

    /** An empty one: in a file {@code p.db}, or a database of its own. */
    static PlatformStore open(Engine engine, Path folder, ModuleTables tables) {
        return switch (engine) {
            case SQLITE -> Objects.requireNonNull(PlatformStore
                    .open(folder.resolve("p.db"), tables, new SqliteLimits(100, Duration.ofSeconds(5)),
                            Clock.systemUTC())
                    .block(TIME));
            case POSTGRES -> open(TestServer.database(), tables);
        };
    }

    static PlatformStore open(DatabaseServer server, ModuleTables tables) {
        return Objects.requireNonNull(DatabaseEngine.open(Engine.POSTGRES, server, tables.postgres())
                .map(PlatformStore::of)
                .block(TIME));
    }
}

package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.wrapping.WrappingKeyFile;
import dev.culvert.platform.host.store.EndingAccounts;
import dev.culvert.platform.host.store.EventFeed;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.postgres.testing.TestServer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A directory in a file of its own, for tests.
 *
 * @param ended the accounts that were deleted
 */
public record DirectoryFile(Directory directory, SigningKeys signing, PlatformStore store,
        List<String> ended) {
    private static final Duration TIME = Duration.ofMinutes(1);

    /** Opens or creates the file; its feed keeps three events. */
    public static DirectoryFile open(Path file, DirectoryLimits limits) {
        return open(Engine.SQLITE, file, limits, Clock.systemUTC());
    }

    static DirectoryFile open(Path file, DirectoryLimits limits, Clock clock) {
        return open(Engine.SQLITE, file, limits, clock);
    }

    /** As above, or in an empty database of a server. */
    static DirectoryFile open(Engine engine, Path file, DirectoryLimits limits, Clock clock) {
        var tables = new ModuleTables(new LinkedHashMap<>(Map.of("directory", DirectorySchema.VERSIONS)));
        PlatformStore store = Objects.requireNonNull((switch (engine) {
            case SQLITE -> PlatformStore.open(file, tables, new SqliteLimits(100, Duration.ofSeconds(5)),
                    Clock.systemUTC());
            case POSTGRES -> DatabaseEngine.open(engine, TestServer.database(), tables.postgres())
                    .map(PlatformStore::of);
        }).block(TIME));
        var ends = new EndingAccounts();
        List<String> ended = new ArrayList<>();
        ends.add((change, account) -> ended.add(account));
        var signing = new SigningKeys(store,
                new WrappingKeyFile(file.resolveSibling("token.key")), clock);
        signing.open(true).block(TIME);
        return new DirectoryFile(new Directory(store, new EventFeed(store, 3).of("directory"), ends, limits,
                clock, signing), signing, store, ended);
    }

    public void close() {
        store.close().block(TIME);
    }
}

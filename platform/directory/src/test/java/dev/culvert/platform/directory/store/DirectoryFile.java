package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.directory.wrapping.WrappingKeyFile;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Store;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * A directory in a file of its own, for tests.
 *
 * @param ended the accounts that were deleted
 */
public record DirectoryFile(Directory directory, SigningKeys signing, AccessDecisions decisions,
        PlatformStore store, List<String> ended) {
    private static final String MODULE = "directory";
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
        return open(engine, file, limits, clock, store -> store);
    }

    /** As above, behind another store. */
    static DirectoryFile open(Engine engine, Path file, DirectoryLimits limits, Clock clock,
            UnaryOperator<Store> watched) {
        var tables = new ModuleTables(new LinkedHashMap<>(Map.of(MODULE, DirectorySchema.VERSIONS)));
        PlatformStore store = Objects.requireNonNull((switch (engine) {
            case SQLITE -> PlatformStore.open(file, tables, new SqliteLimits(100, Duration.ofSeconds(5)),
                    Clock.systemUTC());
            case POSTGRES -> DatabaseEngine.open(engine, TestServer.database(), tables.postgres())
                    .map(PlatformStore::of);
        }).block(TIME));
        var ends = new EndingAccounts();
        List<String> ended = new ArrayList<>();
        ends.add((change, account) -> ended.add(account));
        // Counts nothing: the clock of the test is that of the database.
        var signing = new SigningKeys(new CountingStore(store, new AtomicLong(), new AtomicLong()),
                new WrappingKeyFile(file.resolveSibling("token.key")), clock);
        signing.open(true).block(TIME);
        Events events = new EventFeed(store, 3).of(MODULE);
        var directory = new Directory(watched.apply(store), events, ends, limits, clock, signing);
        var decisions = new AccessDecisions(directory, MODULE);
        decisions.follow(events);
        return new DirectoryFile(directory, signing, decisions, store, ended);
    }

    public void close() {
        decisions.stop();
        store.close().block(TIME);
    }
}

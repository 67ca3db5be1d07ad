package dev.culvert.platform.directory;

import dev.culvert.platform.host.StoreSettings;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.postgres.testing.TestServer;

/** Settings of empty stores. */
final class TestStore {
    private TestStore() {}

    static StoreSettings empty(Engine engine) {
        return switch (engine) {
            case SQLITE -> StoreSettings.sqlite();
            case POSTGRES -> at(TestServer.database());
        };
    }

    static StoreSettings at(DatabaseServer server) {
        return at(server.hosts(), server.database());
    }

    /** A database at another address, for example that of a {@link DatabaseGate}. */
    static StoreSettings at(String hosts, String database) {
        return StoreSettings.postgres("postgresql://" + hosts + "/" + database, "postgres");
    }
}

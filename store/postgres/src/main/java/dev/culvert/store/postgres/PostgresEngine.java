package dev.culvert.store.postgres;

import dev.culvert.store.Database;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.SchemaParts;
import reactor.core.publisher.Mono;

/** Opens databases on PostgreSQL servers. */
public final class PostgresEngine implements DatabaseEngine {
    @Override
    public Database.Engine engine() {
        return Database.Engine.POSTGRES;
    }

    @Override
    public Mono<Database> open(DatabaseServer server, SchemaParts schema) {
        return PostgresDatabase.open(server, schema).cast(Database.class);
    }
}

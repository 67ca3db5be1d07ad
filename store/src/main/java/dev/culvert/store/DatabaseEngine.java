package dev.culvert.store;

import java.util.ServiceLoader;
import reactor.core.publisher.Mono;

/** An engine of databases on servers, found by {@link ServiceLoader} when it is asked for. */
public interface DatabaseEngine {
    Database.Engine engine();

    /**
     * Opens a database and migrates it to the newest versions of {@code schema}; a second process that does
     * so waits. Errors: {@link StoreException.Away} when the server can't be reached in its start timeout;
     * {@link StoreException.Failed} for a database of a newer program or of another one, and for rights that
     * are missing.
     */
    Mono<Database> open(DatabaseServer server, SchemaParts schema);

    /** Opens a database with the engine on the class path. Errors: as {@link #open}. */
    static Mono<Database> open(Database.Engine engine, DatabaseServer server, SchemaParts schema) {
        return Mono.defer(() -> ServiceLoader
                .load(DatabaseEngine.class, DatabaseEngine.class.getClassLoader())
                .stream()
                .map(ServiceLoader.Provider::get)
                .filter(found -> found.engine() == engine)
                .findFirst()
                .map(found -> found.open(server, schema))
                .orElseGet(() -> Mono.error(new StoreException.Failed("no engine for " + engine
                        + " is on the class path (expected: the jar culvert-store-postgres)",
                        new IllegalStateException("no engine")))));
    }
}

package dev.culvert.platform.triggers;

import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.store.EventFeed;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.OutboxLimits;
import dev.culvert.platform.host.store.OutboxSender;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.triggers.store.TriggersSchema;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.Rows;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.postgres.testing.TestServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** The services of a platform with the module's tables, on either engine. */
public final class TestPlatform implements AutoCloseable {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String NAME = "triggers";

    public final PlatformStore store;
    public final EventFeed feed;
    public final OutboxSender outbox;
    public final Reversal wrapping = new Reversal();
    public final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    public TestPlatform(Engine engine, Path folder) {
        this(engine, folder, OutboxLimits.defaults());
    }

    public TestPlatform(Engine engine, Path folder, OutboxLimits limits) {
        var tables = new ModuleTables(new LinkedHashMap<>(Map.of(NAME, TriggersSchema.VERSIONS)));
        Mono<PlatformStore> opened = switch (engine) {
            case SQLITE -> PlatformStore.open(folder.resolve("p.db"), tables,
                    new SqliteLimits(10_000, Duration.ofSeconds(5)), Clock.systemUTC());
            case POSTGRES -> DatabaseEngine.open(engine, TestServer.database(), tables.postgres())
                    .map(PlatformStore::of);
        };
        store = Objects.requireNonNull(opened.block(TIME));
        feed = new EventFeed(store, 10_000);
        outbox = new OutboxSender(store, limits, Clock.systemUTC(), registry);
    }

    /** Runs statements. */
    public void execute(String... statements) {
        store.change(connection -> {
            for (String statement : statements) {
                Rows.update(connection, statement);
            }
            return true;
        }).block(TIME);
    }

    public long count(String table) {
        return Objects.requireNonNull(
                store.read(connection -> Rows.count(connection, "SELECT count(*) FROM " + table))
                        .block(TIME));
    }

    @Override
    public void close() {
        outbox.stop().block(TIME);
        store.close().block(TIME);
    }

    /** Turns secrets round. */
    public static final class Reversal implements SecretWrapping {
        public volatile String key = "one";

        @Override
        public Mono<String> key() {
            return Mono.fromSupplier(() -> key);
        }

        @Override
        public String wrap(String secret, String name, String by) {
            return prefix(by) + new StringBuilder(name + "|" + secret).reverse();
        }

        @Override
        public String unwrap(String text, String name) {
            String both = new StringBuilder(text.substring(text.indexOf('>') + 1)).reverse().toString();
            if (!both.startsWith(name + "|")) {
                throw new Failed("of another name");
            }
            return both.substring(name.length() + 1);
        }

        @Override
        public String prefix(String by) {
            return by + ">";
        }
    }
}

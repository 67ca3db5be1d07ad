package dev.culvert.platform.triggers;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.spi.Rewrapping;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.TableVersions;
import dev.culvert.platform.host.spi.Turns;
import dev.culvert.platform.triggers.clock.ClockKind;
import dev.culvert.platform.triggers.clock.ClockWork;
import dev.culvert.platform.triggers.git.GitCalls;
import dev.culvert.platform.triggers.git.GitKind;
import dev.culvert.platform.triggers.hermes.EventBook;
import dev.culvert.platform.triggers.hermes.EventKind;
import dev.culvert.platform.triggers.hermes.EventSecrets;
import dev.culvert.platform.triggers.hermes.Hermes;
import dev.culvert.platform.triggers.hermes.HermesCalls;
import dev.culvert.platform.triggers.registry.RegistryCalls;
import dev.culvert.platform.triggers.registry.RegistryKind;
import dev.culvert.platform.triggers.store.TriggersSchema;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The module of triggers: events of webhooks, registries and the clock, and the pipelines that they start.
 */
public final class TriggersModule implements PlatformModule {
    static final String NAME = "triggers";

    private @Nullable Parts parts;

    /** What runs beside the calls. */
    private record Parts(Rewrapping secrets, ClockWork clock) {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Class<? extends Record> settings() {
        return TriggersSettings.class;
    }

    @Override
    public List<String> mounts() {
        return List.of(HermesCalls.ROOT + "/", RegistryCalls.ROOT + "/");
    }

    @Override
    public TableVersions tables() {
        return TriggersSchema.VERSIONS;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        Store store = context.service(Store.class);
        Clock clock = Clock.systemUTC();
        var secrets = new EventSecrets(store, context.service(SecretWrapping.class));
        var hermes = new Hermes(store, context.service(Events.class), context.service(Outbox.class),
                context.service(PipelineRuns.class), secrets, clock, context.service(MeterRegistry.class));
        URI url = context.settings(TriggersSettings.class).url();
        String base = url == null ? "" : url.toString().replaceAll("/+$", "");
        List<EventKind> kinds = new ArrayList<>();
        kinds.addAll(GitKind.all(base));
        kinds.addAll(RegistryKind.all(base));
        kinds.add(new ClockKind());
        var book = new EventBook(store, context.service(Events.class), context.service(PipelineRuns.class),
                secrets, kinds, clock);
        book.follow(context.service(AccountEnds.class));
        parts = new Parts(secrets.rewrapping(),
                new ClockWork(store, context.service(Turns.class), hermes, clock));
        List<RestCall> calls = new ArrayList<>(HermesCalls.of(book, hermes, store));
        calls.add(GitCalls.of(hermes));
        calls.addAll(RegistryCalls.of(hermes));
        return RestApi.of(NAME, context, calls);
    }

    @Override
    public List<String> troubles() {
        Parts here = parts;
        return here == null ? List.of() : here.secrets.troubles();
    }

    @Override
    public Mono<Void> start() {
        return Mono.fromRunnable(() -> {
            Parts here = Objects.requireNonNull(parts, "created");
            here.secrets.start();
            here.clock.start();
        });
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return Mono.fromRunnable(() -> {
            Parts here = parts;
            if (here != null) {
                here.clock.stop();
                here.secrets.stop();
            }
        });
    }
}

package dev.culvert.platform.host;

import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.Version;
import dev.culvert.platform.host.rest.ApiDocument;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.AccountSettings;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.host.spi.RuntimeEnds;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.Turns;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The context that the host gives to one module.
 *
 * @param name the name of the module
 * @param handlers the names of all modules
 */
record PlatformContext(PlatformParts parts, String name, List<String> handlers) implements HandlerContext {
    @Override
    public <T extends Record> T settings(Class<T> type) {
        Record bound = parts.modules().settings().get(name);
        if (!type.isInstance(bound)) {
            throw new IllegalArgumentException(
                    "module " + name + " has no settings of type " + type.getName());
        }
        return type.cast(bound);
    }

    @Override
    public <S> S service(Class<S> type) {
        Map<Class<?>, Object> services = Map.ofEntries(Map.entry(Store.class, parts.store()),
                Map.entry(Events.class, parts.events().of(name)),
                Map.entry(Outbox.class, parts.outbox().of(name)),
                Map.entry(Turns.class, parts.turns().of(name)),
                Map.entry(AccountEnds.class, parts.accountEnds()),
                Map.entry(RuntimeEnds.class, parts.runtimeEnds()),
                Map.entry(AuditTrail.class, parts.audit()),
                Map.entry(AccountSettings.class,
                        (AccountSettings) account -> Mono.just(AccountSettings.GitSettings.NONE)),
                Map.entry(PipelineRuns.class, PipelineRuns.NONE),
                Map.entry(ApiDocument.class, parts.document()),
                Map.entry(EventLoops.class, parts.loops()),
                Map.entry(ControlPlaneConfig.class, parts.config()));
        Object service = services.get(type);
        if (service == null) {
            throw new IllegalArgumentException("no module offers " + type.getName());
        }
        return type.cast(service);
    }

    @Override
    public String version() {
        return Version.current();
    }

    @Override
    public @Nullable String runtime() {
        return null;
    }
}

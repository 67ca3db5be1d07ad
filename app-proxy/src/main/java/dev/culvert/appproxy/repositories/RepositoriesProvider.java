package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.credentials.EncryptedGitTokens;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Reason;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The handler {@code repositories}, reachable only through GraphQL. Provides {@link Integrations} and {@link
 * GitTokens} to the other handlers.
 */
public final class RepositoriesProvider implements EdgeHandlerProvider {
    private @Nullable ConfiguredIntegrations integrations;
    private @Nullable EncryptedGitTokens tokens;

    @Override
    public String name() {
        return "repositories";
    }

    @Override
    public Map<Class<?>, Function<HandlerContext, ?>> services() {
        return Map.of(Integrations.class, this::integrations, GitTokens.class, this::tokens);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        return new RepositoriesHandler(integrations(context), tokens(context), context.service(Access.class));
    }

    @Override
    public Mono<Void> start() {
        EncryptedGitTokens made = tokens;
        return made == null
                ? Mono.empty()
                : made.open().onErrorMap(IOException.class, RepositoriesProvider::wrong);
    }

    /** A file that can't be used; but a Kubernetes API that is away is nobody's configuration. */
    private static Throwable wrong(IOException failed) {
        return failed.getCause() instanceof KubernetesClientException
                ? failed
                : new ConfigException("handlers.repositories.tokens",
                        "keys and tokens that can be read: " + Reason.of(failed));
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        ConfiguredIntegrations made = integrations;
        return made == null ? Mono.empty() : made.close();
    }

    private synchronized ConfiguredIntegrations integrations(HandlerContext context) {
        ConfiguredIntegrations known = integrations;
        if (known == null) {
            known = ConfiguredIntegrations.of(context.settings(RepositoriesConfig.class),
                    context.service(Scheduler.class));
            integrations = known;
        }
        return known;
    }

    private synchronized EncryptedGitTokens tokens(HandlerContext context) {
        EncryptedGitTokens known = tokens;
        if (known == null) {
            known = EncryptedGitTokens.of(context.settings(RepositoriesConfig.class).tokens(),
                    context.service(Scheduler.class));
            tokens = known;
            Gauge.builder("culvert.git.tokens.unreadable", known, EncryptedGitTokens::unreadable)
                    .strongReference(true)
                    .register(context.service(MeterRegistry.class));
        }
        return known;
    }
}

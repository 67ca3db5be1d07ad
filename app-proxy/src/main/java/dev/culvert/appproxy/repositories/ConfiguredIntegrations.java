package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.repositories.provider.ProviderCalls;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The integrations of a configuration, with their connections. Each provider has its own pool, so a provider
 * that hangs does not affect the others. The creator closes this.
 */
public final class ConfiguredIntegrations implements Integrations {
    /** The maximum number of connections to a provider. */
    private static final int MAX_CONNECTIONS = 32;
    private static final int MAX_WAITING = 256;

    private final List<Integration> all;
    private final EventLoops loops;
    private final List<OutboundCalls> pools;

    private ConfiguredIntegrations(List<Integration> all, EventLoops loops, List<OutboundCalls> pools) {
        this.all = List.copyOf(all);
        this.loops = loops;
        this.pools = List.copyOf(pools);
    }

    /**
     * Makes the integrations. Blocks on the files of authorities.
     *
     * @param blocking the scheduler that reads folders
     * @throws dev.culvert.certs.CertsException when a file of authorities can't be read
     */
    public static ConfiguredIntegrations of(RepositoriesConfig config, Scheduler blocking) {
        var loops = EventLoops.create(1);
        var patience = new ProviderCalls.Patience(config.timeout(), config.maxWait());
        var pools = config.integrations().stream().map(one -> calls(one, loops)).toList();
        var all = new ArrayList<Integration>();
        for (int i = 0; i < pools.size(); i++) {
            IntegrationConfig one = config.integrations().get(i);
            Path folder = one.folder();
            all.add(folder == null
                    ? new RestIntegration(one, pools.get(i), patience)
                    : new FolderIntegration(one.name(), folder, blocking));
        }
        return new ConfiguredIntegrations(all, loops, pools);
    }

    @Override
    public Integration of(@Nullable String name) {
        if (name == null || name.isEmpty()) {
            return all.get(0);
        }
        return all.stream()
                .filter(integration -> integration.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> HandlerException.of(Reason.NOT_FOUND,
                                "there is no Git integration of that name"));
    }

    @Override
    public List<Integration> all() {
        return all;
    }

    /** Closes the connections. */
    Mono<Void> close() {
        return Mono.whenDelayError(pools.stream().map(OutboundCalls::close).toList())
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)));
    }

    private static OutboundCalls calls(IntegrationConfig integration, EventLoops loops) {
        return new OutboundCalls("git-" + integration.name(), MAX_CONNECTIONS, MAX_WAITING, loops,
                TlsContexts.client(integration.ca())).compressed();
    }
}

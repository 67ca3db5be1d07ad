package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.repositories.provider.ProviderCalls;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.EventLoops;
import io.netty.handler.ssl.SslContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * The integrations of a configuration, with their connections. Each provider has its own pool, so a provider
 * that hangs does not affect the others. The creator closes this.
 */
public final class ConfiguredIntegrations implements Integrations {
    /** The maximum number of connections to a provider. */
    private static final int MAX_CONNECTIONS = 32;
    private static final int MAX_WAITING = 256;
    private static final Duration IDLE = Duration.ofSeconds(30);

    private final List<Integration> all;
    private final EventLoops loops;
    private final List<ConnectionProvider> pools;

    private ConfiguredIntegrations(List<Integration> all, EventLoops loops, List<ConnectionProvider> pools) {
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
        var pools = config.integrations().stream().map(ConfiguredIntegrations::pool).toList();
        var all = new ArrayList<Integration>();
        for (int i = 0; i < pools.size(); i++) {
            IntegrationConfig one = config.integrations().get(i);
            Path folder = one.folder();
            all.add(folder == null
                    ? new RestIntegration(one, client(one.ca(), pools.get(i), loops), patience)
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
        return Mono.whenDelayError(pools.stream().map(ConnectionProvider::disposeLater).toList())
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)));
    }

    private static ConnectionProvider pool(IntegrationConfig integration) {
        return ConnectionProvider.builder("git-" + integration.name())
                .maxConnections(MAX_CONNECTIONS)
                .pendingAcquireMaxCount(MAX_WAITING)
                .maxIdleTime(IDLE)
                .build();
    }

    private static HttpClient client(@Nullable Path ca, ConnectionProvider pool, EventLoops loops) {
        ServerTrust trust = ServerTrust.inSystemRoots();
        if (ca != null) {
            trust = trust.or(ServerTrust.inAuthorities(PemFiles.readCertificates(ca)));
        }
        SslContext tls = TlsContexts.client(trust, null, List.of());
        return HttpClient.create(pool).runOn(loops).secure(spec -> spec.sslContext(tls)).compress(true);
    }
}

package dev.culvert.platform.directory;

import dev.culvert.certs.PemFiles;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.Reason;
import dev.culvert.http.net.CoalescingRunner;
import dev.culvert.http.net.EventLoops;
import dev.culvert.platform.directory.store.Directory;
import io.netty.channel.ChannelOption;
import io.netty.handler.ssl.SslContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Notifies App-Proxies of changes, through edge and tunnel, by an empty POST without a token. They then read
 * the changes. Each runtime gets one notification at a time, at most five a second. A failed one is not
 * repeated, because App-Proxies also poll every few seconds.
 */
final class ChangeNotifier {
    static final String PATH = "/app-proxy/api/changes";

    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_WAITING = 10_000;
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final Logger log = LoggerFactory.getLogger(ChangeNotifier.class);

    private final Directory directory;
    private final CoalescingRunner turns = new CoalescingRunner(PAUSE);
    private final ConnectionProvider connections = ConnectionProvider.builder("nudges")
            .maxConnections(MAX_CONNECTIONS)
            .pendingAcquireMaxCount(MAX_WAITING)
            .maxIdleTime(IDLE)
            .build();
    private final HttpClient http;

    /** Reads the authorities' file. Blocks. Throws {@link dev.culvert.certs.CertsException}. */
    ChangeNotifier(Directory directory, EventLoops loops, @Nullable Path ca) {
        this.directory = directory;
        ServerTrust trust = ca == null
                ? ServerTrust.inSystemRoots()
                : ServerTrust.inSystemRoots().or(ServerTrust.inAuthorities(PemFiles.readCertificates(ca)));
        SslContext tls = TlsContexts.client(trust, null, List.of());
        http = HttpClient.create(connections)
                .runOn(loops)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(TIMEOUT.toMillis()))
                .secure(spec -> spec.sslContext(tls));
    }

    /** Notifies the runtimes of a changed account. Returns at once. */
    void changed(String account) {
        turns.run(account, directory.urls(account).doOnNext(urls -> tell(account, urls)).then());
    }

    Mono<Void> close() {
        return connections.disposeLater();
    }

    private void tell(String account, Map<String, String> urls) {
        urls.forEach((runtime, url) -> turns.run(account + "/" + runtime, post(account, runtime, url)));
    }

    private Mono<Void> post(String account, String runtime, String url) {
        return http.post()
                .uri(url + PATH)
                .responseSingle((head, body) -> body.then(Mono.just(head.status().code())))
                .timeout(TIMEOUT)
                .doOnNext(status -> log.atDebug()
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("status", status)
                        .log("runtime told of a change"))
                .doOnError(failed -> log.atDebug()
                        .addKeyValue("account", account)
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("reason", Reason.of(failed))
                        .log("runtime not told of a change"))
                .then();
    }
}

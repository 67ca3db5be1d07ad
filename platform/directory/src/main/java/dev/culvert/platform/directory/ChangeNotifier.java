package dev.culvert.platform.directory;

import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.Reason;
import dev.culvert.http.net.CoalescingRunner;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.platform.directory.store.Directory;
import io.netty.handler.codec.http.HttpMethod;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

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
    private static final int MAX_ANSWER_BYTES = 64 << 10;
    private static final Logger log = LoggerFactory.getLogger(ChangeNotifier.class);

    private final Directory directory;
    private final CoalescingRunner notifications = new CoalescingRunner(PAUSE);
    private final OutboundCalls calls;

    /** Reads the authorities' file. Blocks. Throws {@link dev.culvert.certs.CertsException}. */
    ChangeNotifier(Directory directory, EventLoops loops, @Nullable Path ca) {
        this.directory = directory;
        calls = new OutboundCalls("change-notifications", MAX_CONNECTIONS, MAX_WAITING, loops,
                TlsContexts.client(ca));
    }

    /** Notifies the runtimes of a changed account. Returns at once. */
    void changed(String account) {
        notifications.run(account, directory.urls(account).doOnNext(urls -> notify(account, urls)).then());
    }

    Mono<Void> close() {
        return calls.close();
    }

    private void notify(String account, Map<String, String> urls) {
        urls.forEach(
                (runtime, url) -> notifications.run(account + "/" + runtime, post(account, runtime, url)));
    }

    private Mono<Void> post(String account, String runtime, String url) {
        return Mono
                .defer(() -> calls.send(
                        new OutboundCalls.Call(HttpMethod.POST, URI.create(url + PATH), fields -> {}, null),
                        MAX_ANSWER_BYTES, TIMEOUT))
                .doOnNext(answer -> log.atDebug()
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("status", answer.status())
                        .log("runtime notified of a change"))
                .doOnError(failed -> log.atDebug()
                        .addKeyValue("account", account)
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("reason", Reason.of(failed))
                        .log("runtime not notified of a change"))
                .then();
    }
}

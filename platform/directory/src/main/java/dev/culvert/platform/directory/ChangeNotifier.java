package dev.culvert.platform.directory;

import dev.culvert.http.net.CoalescingRunner;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.Events;
import java.time.Duration;
import java.util.Map;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.util.retry.Retry;

/**
 * Notifies App-Proxies of changes, by an empty POST without a token. They then read the changes. A failed one
 * is not repeated, because App-Proxies also poll every few seconds.
 */
final class ChangeNotifier {
    static final String PATH = "/app-proxy/api/changes";

    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final Directory directory;
    private final PublicHosts runtimes;
    private final CoalescingRunner notifications = new CoalescingRunner(PAUSE);
    private final Disposable.Swap following = Disposables.swap();

    ChangeNotifier(Directory directory, PublicHosts runtimes) {
        this.directory = directory;
        this.runtimes = runtimes;
    }

    /** Begins to notify of the directory's changes. */
    void follow(Events events) {
        following.update(events.follow()
                .filter(event -> event.module().equals(DirectoryProvider.NAME))
                .retryWhen(Retry.backoff(Long.MAX_VALUE, PAUSE).maxBackoff(LONGEST_PAUSE))
                .subscribe(this::changed));
    }

    void stop() {
        following.dispose();
    }

    private void changed(Event event) {
        String account = event.account();
        notifications.run(account, directory.urls(account)
                .doOnNext(urls -> tell(account, urls))
                .then());
    }

    /** Notifies the App-Proxies at these URLs, by the names of their runtimes. */
    void tell(String account, Map<String, String> urls) {
        urls.forEach((runtime, url) -> runtimes.nudge(account, runtime, url, PATH));
    }
}

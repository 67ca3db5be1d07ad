package dev.culvert.platform.directory;

import dev.culvert.http.net.CoalescingRunner;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.host.spi.Events;
import java.time.Duration;
import java.util.Map;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Notifies App-Proxies of the changes of this process, by an empty POST without a token. They then read the
 * changes. A failed one is not repeated, because App-Proxies also poll every few seconds.
 */
final class ChangeNotifier {
    static final String PATH = "/app-proxy/api/changes";

    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Directory directory;
    private final PublicHosts runtimes;
    private final CoalescingRunner runner = new CoalescingRunner(PAUSE);
    private final Disposable.Swap following = Disposables.swap();

    ChangeNotifier(Directory directory, PublicHosts runtimes) {
        this.directory = directory;
        this.runtimes = runtimes;
    }

    /** Begins to notify of the directory's changes. */
    void follow(Events events) {
        following.update(events.onCommit(this::changed));
    }

    void stop() {
        following.dispose();
    }

    private void changed(String account) {
        runner.run(account, directory.urls(account)
                .doOnNext(urls -> tell(account, urls))
                .then());
    }

    /** Notifies the App-Proxies at these URLs, by the names of their runtimes. */
    void tell(String account, Map<String, String> urls) {
        urls.forEach((runtime, url) -> runtimes.nudge(account, runtime, url, PATH));
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Callers who notice nothing of a tunnel that is lost and comes back, or of a client that is replaced. */
class LostTunnelIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CALLERS = 16;

    @TempDir
    Path folder;
    private final AtomicLong served = new AtomicLong();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes.get("/", (request, response) -> response.sendString(Mono.just("hello"))))
            .bindNow();
    private final URI to = URI.create("http://127.0.0.1:" + upstream.port());

    @AfterEach
    void stop() {
        upstream.disposeNow();
        connections.dispose();
    }

    @Test
    void noGetFailsThoughItsTunnelIsLostTenTimes() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", to);
            Disposable load = load(platform.caller("acme", "prod", connections));

            for (int i = 0; i < 10; i++) {
                awaitMore(50);
                platform.disconnectAll();
            }
            awaitMore(50);

            load.dispose();
            assertThat(failures).isEmpty();
        }
    }

    @Test
    void noGetFailsThoughTheClientIsReplaced() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            Path token = platform.createRuntime("acme", "prod");
            TunnelClient old = platform.connect(platform.clientConfig("acme", "prod", token, to, null));
            Disposable load = load(platform.caller("acme", "prod", connections));

            for (int i = 0; i < 2; i++) {
                awaitMore(50);
                TunnelClient next = platform.connect(platform.clientConfig("acme", "prod", null, to, null));
                awaitMore(50);
                old.stop(PATIENCE).block(PATIENCE);
                old = next;
            }
            awaitMore(50);

            load.dispose();
            assertThat(failures).isEmpty();
        }
    }

    private void awaitMore(int requests) {
        long target = served.get() + requests;
        await().pollInterval(Duration.ofMillis(5)).atMost(PATIENCE).until(() -> served.get() >= target);
    }

    /** Callers that ask again and again, each when it was answered. */
    private Disposable load(HttpClient caller) {
        List<Disposable> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            all.add(caller.get()
                    .uri("/")
                    .responseSingle((head, body) -> body.asString()
                            .map(text -> head.status().code() + " " + text))
                    .onErrorResume(error -> Mono.just(String.valueOf(error)))
                    .doOnNext(answer -> {
                        if (answer.equals("200 hello")) {
                            served.incrementAndGet();
                        } else {
                            failures.add(answer);
                        }
                    })
                    .repeat()
                    .subscribe());
        }
        return () -> all.forEach(Disposable::dispose);
    }
}

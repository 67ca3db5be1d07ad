package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** After a restart of the server, requests wait for clients that were there before, and for no others. */
class ConnectedBeforeIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Far below the hold of 5 s. */
    private static final Duration AT_ONCE = Duration.ofSeconds(2);

    @TempDir
    Path folder;

    private static Mono<String> get(HttpClient caller) {
        return caller.get()
                .uri("/")
                .responseSingle(
                        (head, body) -> body.asString().map(text -> head.status().code() + " " + text));
    }

    @Test
    void aRestartedServerHoldsRequestsForRuntimesThatHadAClientOnly() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.get("/",
                        (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();
        URI to = URI.create("http://127.0.0.1:" + upstream.port());
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", to);
            platform.createRuntime("acme", "new");
        }
        try (Platform platform = Platform.restart(folder)) {
            Mono<String> held = get(platform.caller("acme", "prod")).cache();
            held.subscribe();

            String never = get(platform.caller("acme", "new")).blockOptional(AT_ONCE).orElseThrow();
            platform.connect(platform.clientConfig("acme", "prod", null, to, null));

            assertThat(never).startsWith("503 ").contains("no-tunnel");
            assertThat(held.blockOptional(PATIENCE)).contains("200 hello");
        } finally {
            upstream.disposeNow();
        }
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingConfig;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * The default routes behind a tunnel, with a real App-Proxy and an event source that DNS does not know. Paths are sent
 * as they stand, so that what a caller's library would tidy up arrives.
 */
class RoutesIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final AtomicInteger WEBHOOKS = new AtomicInteger();

    @TempDir
    static Path folder;

    private static DisposableServer eventSource;
    private static AppProxy appProxy;
    private static Platform platform;

    @BeforeAll
    static void start() throws Exception {
        eventSource = HttpServer.create().host("127.0.0.1").port(0).handle((request, response) -> {
            WEBHOOKS.incrementAndGet();
            return response.sendString(Mono.just("event source " + request.uri()));
        }).bindNow();
        appProxy = Objects
                .requireNonNull(AppProxy.start(AppProxyConfig.of(HostPort.parse("127.0.0.1:0"), "acme/prod",
                        AppProxyConfig.Handlers.of(new AppProxyConfig.Info()))).block(PATIENCE));
        HostPort events = HostPort.of((InetSocketAddress) eventSource.address());
        var router = new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("a/b")),
                Map.of("cap-app-proxy", appProxy.address(), "b-eventsource-svc.a.svc.cluster.local", events,
                        "evil.example", events));
        platform = Platform.start(folder);
        platform.connect(
                platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null, router));
    }

    @AfterAll
    static void stop() {
        platform.close();
        appProxy.stop(Duration.ZERO).block(PATIENCE);
        eventSource.disposeNow();
    }

    @Test
    void theAppProxyAnswersUnderItsPrefix() throws Exception {
        assertThat(RawCaller.get(platform, "/app-proxy/api/info")).startsWith("HTTP/1.1 200 ")
                .contains("acme/prod");
    }

    @Test
    void aWebhookReachesItsEventSource() throws Exception {
        assertThat(RawCaller.get(platform, "/webhooks/a/b/push?x=1")).startsWith("HTTP/1.1 200 ")
                .endsWith("event source /webhooks/a/b/push?x=1");
    }

    /** Each has sent a request astray in a gateway that rewrote paths with regular expressions. */
    @ParameterizedTest
    @CsvSource({"/webhooks/evil.example%3f/x, 400, edge",
            "/app-proxy/../webhooks/a/b, 400, edge", "/app-proxy/%2e%2e/webhooks/a/b, 400, edge",
            "/webhooks/a%2fb/c, 400, edge", "/x/webhooks/a/b, 404, router", "/webhooks/c/d, 403, router"})
    void pathsThatSentRequestsAstrayAreRefused(String path, int status, String hop) throws Exception {
        int before = WEBHOOKS.get();

        String answer = RawCaller.get(platform, path);

        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("\"hop\":\"" + hop + "\"");
        assertThat(WEBHOOKS).hasValue(before);
    }

    @Test
    void aPathThatNamesAnotherRouteFurtherBackStaysWithItsOwn() throws Exception {
        int before = WEBHOOKS.get();

        String answer = RawCaller.get(platform, "/app-proxy/webhooks/a/b");

        assertThat(answer).startsWith("HTTP/1.1 404 ").contains("\"type\":\"urn:culvert:problem:not-found\"");
        assertThat(WEBHOOKS).hasValue(before);
    }
}

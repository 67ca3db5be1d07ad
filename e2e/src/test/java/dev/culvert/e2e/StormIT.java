package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.launcher.certs.CertsFolder;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/** Many clients in one JVM lose their server at once: a small storm. {@code e2e/scripts/storm.py} makes a big one. */
class StormIT {
    private static final Logger log = LoggerFactory.getLogger(StormIT.class);
    private static final String DOMAIN = "storm.test";
    private static final int CLIENTS = 60;
    /** Runtimes that are asked all the time, from the moment that they are back. */
    private static final int WITNESSES = 5;
    private static final Duration BACK = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final Pattern TOKEN = Pattern.compile("\"enrolmentToken\":\"([^\"]+)\"");

    @TempDir
    Path folder;
    private final EventLoops loops = EventLoops.create(2);
    private final List<TunnelClient> clients = new ArrayList<>();
    private final Set<Integer> up = ConcurrentHashMap.newKeySet();
    private final Sinks.Many<Integer> back = Sinks.many().replay().limit(4 * CLIENTS);
    private final Map<String, Integer> answers = new ConcurrentHashMap<>();

    @Test
    void allAreBackSoonAfterTheirServerWasKilledAndRequestsOfThoseThatAreAreAnswered() throws Exception {
        new CertsFolder(folder).init(DOMAIN);
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.sendString(Mono.just("hello")))
                .bindNow();
        int port;
        try {
            try (ServerProcess first = ServerProcess.start(folder, DOMAIN, 0)) {
                port = first.port("tunnel");
                for (int i = 0; i < CLIENTS; i++) {
                    connect(i, port, token(first, "r" + i),
                            URI.create("http://127.0.0.1:" + upstream.port()));
                }
                await().atMost(PATIENCE).until(() -> up.size() == CLIENTS);
                first.kill();
            }
            await().atMost(PATIENCE).until(up::isEmpty);

            try (ServerProcess second = ServerProcess.start(folder, DOMAIN, port)) {
                int edge = second.port("edge");
                long began = System.nanoTime();
                Disposable load = witnesses(edge);
                await().atMost(BACK).until(() -> up.size() == CLIENTS);
                log.info("storm of {} clients: all back after {} ms", CLIENTS,
                        Duration.ofNanos(System.nanoTime() - began).toMillis());
                await().atMost(PATIENCE).until(() -> answers.getOrDefault("200 hello", 0) > 2 * WITNESSES);
                load.dispose();

                assertThat(answers).containsOnlyKeys("200 hello");
                Flux.fromIterable(clients).flatMap(client -> client.stop(Duration.ZERO)).blockLast(PATIENCE);
            }
        } finally {
            upstream.disposeNow();
            loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block(PATIENCE);
        }
    }

    private void connect(int number, int port, Path token, URI to) {
        var config = new ClientConfig(List.of(URI.create("wss://localhost:" + port)), null, null, null, token,
                folder.resolve("identity-" + number),
                new ClientConfig.Health(HostPort.parse("127.0.0.1:0")), to, null, null, 2);
        clients.add(TunnelClient.embed(config, loops, event -> {
            switch (event) {
                case ClientEvent.Connected connected -> {
                    up.add(number);
                    back.emitNext(number, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
                }
                case ClientEvent.Waiting waiting -> {
                    // each is the only instance of its runtime
                }
                case ClientEvent.Disconnected disconnected -> up.remove(number);
                case ClientEvent.NotConnected failed -> {
                    // It was not up.
                }
            }
        }));
    }

    private Path token(ServerProcess server, String runtime) throws Exception {
        String adminToken = Files.readString(folder.resolve("admin.token")).strip();
        String json = Objects.requireNonNull(HttpClient.create()
                .headers(headers -> headers.set("authorization", "Bearer " + adminToken)
                        .set("content-type", "application/json"))
                .request(HttpMethod.POST)
                .uri("http://" + server.address("admin") + "/api/v1/runtimes")
                .send(ByteBufFlux.fromString(
                        Mono.just("{\"account\":\"storm\",\"name\":\"" + runtime + "\",\"hosts\":[]}")))
                .responseContent()
                .aggregate()
                .asString()
                .block(PATIENCE));
        var found = TOKEN.matcher(json);
        assertThat(found.find()).as(json).isTrue();
        return Files.writeString(folder.resolve(runtime + ".token"), found.group(1));
    }

    /** Asks each witness again and again once it is back; those that were back before the edge could be asked, at once. */
    private Disposable witnesses(int edgePort) {
        GenericSslContextSpec<?> trusting = Http11SslContextSpec.forClient()
                .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));
        HttpClient caller = HttpClient.create()
                .secure(spec -> spec.sslContext(trusting))
                .baseUrl("https://127.0.0.1:" + edgePort);
        return back.asFlux()
                .skip(CLIENTS) // when they came up first
                .filter(number -> number < WITNESSES)
                .distinct()
                .flatMap(number -> caller
                        .headers(headers -> headers.set("host", "storm-r" + number + "." + DOMAIN))
                        .get()
                        .uri("/")
                        .responseSingle((head, body) -> body.asString()
                                .map(text -> head.status().code() + " " + text))
                        .onErrorResume(error -> Mono.just(String.valueOf(error)))
                        .doOnNext(answer -> answers.merge(answer, 1, Integer::sum))
                        .repeat())
                .subscribe();
    }
}

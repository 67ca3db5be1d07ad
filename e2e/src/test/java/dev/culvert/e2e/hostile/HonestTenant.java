package dev.culvert.e2e.hostile;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingConfig;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/**
 * A tenant that does nothing wrong, {@code bob/prod}: a tunnel client with its router, an upstream that is an event source,
 * too, and callers at a steady pace, on kept connections and on new ones. What they notice goes to the figures of the
 * moment.
 */
final class HonestTenant implements AutoCloseable {
    /** Where its callers come from: no attacker does. */
    private static final String SOURCE = "127.0.1.1";
    /** The body of a webhook that its event source never takes. */
    static final String POISON = "poison";
    /** The server alone says who calls, and it says nothing of callers that it does not ask. */
    private static final Pattern FORGED = Pattern.compile("(?i)culvert[-_]caller[-_].*");
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration ANSWER = Duration.ofSeconds(30);
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final GenericSslContextSpec<?> TRUSTING_HTTP2 = Http2SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));
    private static final GenericSslContextSpec<?> TRUSTING = Http11SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));
    /** Begins the body of a webhook; its number follows. */
    private static final String ID = "webhook-";
    private static final int EVENT_SOURCES = 4;
    private static final int WARM_REQUESTS = 20_000;
    private static final int WARM_HANDSHAKES = 1_000;
    private static final int WARM_WEBHOOKS = 5_000;
    private static final int WARM_AT_ONCE = 8;
    /** The event source that attackers send webhooks to that fail; the order of its line is promised. */
    static final String POISONED_SOURCE = "push" + (EVENT_SOURCES - 1);

    private final ConnectionProvider pool = ConnectionProvider.create("honest", 200);
    private final Map<String, Long> sent = new ConcurrentHashMap<>();
    private final Queue<Disposable> loads = new ConcurrentLinkedQueue<>();
    private final AtomicLong number = new AtomicLong();
    private final DisposableServer upstream;
    private final TunnelClient client;
    private final Target target;
    private final HttpClient kept;
    private final HttpClient unkept;
    private final HttpClient http2;
    private volatile int atOnce = 1;
    private volatile Figures figures = new Figures();

    HonestTenant(Target target) throws Exception {
        this.target = target;
        kept = caller(pool, target.edge());
        unkept = caller(ConnectionProvider.newConnection(), target.edge());
        http2 = kept.protocol(HttpProtocol.H2)
                .secure(spec -> spec.sslContext(TRUSTING_HTTP2).handshakeTimeout(ANSWER));
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.receive()
                        .aggregate()
                        .asString(StandardCharsets.UTF_8)
                        .defaultIfEmpty("")
                        .flatMap(body -> {
                            arrived(body);
                            boolean forged = request.requestHeaders()
                                    .names()
                                    .stream()
                                    .anyMatch(FORGED.asMatchPredicate());
                            return response.status(body.equals(POISON) ? 500 : 200)
                                    .sendString(Mono.just(forged ? "forged" : "hello"))
                                    .then();
                        }))
                .bindNow();
        client = connect(target.createRuntime("bob", "prod"));
    }

    private TunnelClient connect(Path token) throws InterruptedException {
        HostPort address = HostPort.of((InetSocketAddress) upstream.address());
        Map<String, HostPort> names = new ConcurrentHashMap<>(Map.of("argo-server", address));
        for (int i = 0; i < EVENT_SOURCES; i++) {
            names.put("push" + i + "-eventsource-svc.argo.svc.cluster.local", address);
        }
        var router = new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("argo/*")), names);
        var connected = new CountDownLatch(1);
        TunnelClient started = Objects.requireNonNull(TunnelClient.start(
                new ClientConfig(List.of(URI.create("wss://localhost:" + target.tunnel())), null, token,
                        target.folder().resolve("identity-bob"), new ClientConfig.Health(ANY_PORT), null,
                        null, router, 2),
                event -> {
                    if (event instanceof ClientEvent.Connected) {
                        connected.countDown();
                    }
                }).block(PATIENCE));
        if (!connected.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("no tunnel within " + PATIENCE);
        }
        return started;
    }

    /**
     * Begins to call: of ten requests two on new connections, and two more are webhooks.
     *
     * @param perSecond requests
     * @param waiting how many of each kind may wait for their answers; beyond it none is sent
     */
    void begin(int perSecond, int waiting) {
        atOnce = waiting;
        load(perSecond * 0.8, request(kept));
        load(perSecond * 0.2, request(unkept));
        loads.add(every(perSecond * 0.2).flatMap(tick -> webhook(kept), atOnce).subscribe());
    }

    /**
     * Calls as fast as the server answers until it has compiled what requests, handshakes and webhooks need, in both
     * versions of HTTP: what compilers take from a server's first minutes is no attack.
     */
    void warm() {
        Flux.merge(Flux.range(0, WARM_REQUESTS).flatMap(i -> answered(request(kept)), WARM_AT_ONCE),
                Flux.range(0, WARM_HANDSHAKES).flatMap(i -> answered(request(unkept)), 2),
                Flux.range(0, WARM_WEBHOOKS).flatMap(i -> webhook(kept), WARM_AT_ONCE))
                .thenMany(Flux.merge(
                        Flux.range(0, WARM_REQUESTS / 2).flatMap(i -> answered(request(http2)), WARM_AT_ONCE),
                        Flux.range(0, WARM_WEBHOOKS / 2).flatMap(i -> webhook(http2), WARM_AT_ONCE)))
                .blockLast(PATIENCE);
    }

    private static HttpClient.ResponseReceiver<?> request(HttpClient caller) {
        return caller.get().uri("/workflows/");
    }

    /** One client for all requests of a kind: a pool keeps the connections of each apart. */
    private static HttpClient caller(ConnectionProvider connections, int edge) {
        return HttpClient.create(connections)
                .bindAddress(() -> new InetSocketAddress(SOURCE, 0))
                .secure(spec -> spec.sslContext(TRUSTING).handshakeTimeout(ANSWER))
                .headers(headers -> headers.set("host", Target.HONEST))
                .baseUrl("https://127.0.0.1:" + edge);
    }

    private static Flux<Long> every(double perSecond) {
        return Flux.interval(Duration.ofNanos((long) (1e9 / perSecond))).onBackpressureDrop();
    }

    private void load(double perSecond, HttpClient.ResponseReceiver<?> request) {
        loads.add(every(perSecond).flatMap(tick -> answered(request), atOnce).subscribe());
    }

    private Mono<String> answered(HttpClient.ResponseReceiver<?> request) {
        return Mono.defer(() -> {
            long began = System.nanoTime();
            Figures now = figures;
            return request
                    .responseSingle((head, body) -> body.asString()
                            .defaultIfEmpty("")
                            .map(text -> head.status().code() + " " + text))
                    .timeout(ANSWER)
                    .onErrorResume(error -> Mono.just(String.valueOf(error)))
                    .doOnNext(answer -> {
                        if (answer.equals("200 hello")) {
                            now.requests.add(began);
                        } else {
                            now.failed("request: " + shortened(answer));
                        }
                    });
        });
    }

    private Mono<String> webhook(HttpClient caller) {
        long at = number.incrementAndGet();
        String id = ID + at;
        Figures now = figures;
        sent.put(id, System.nanoTime());
        return caller.post()
                .uri("/webhooks/argo/" + source(at) + "/x")
                .send(ByteBufFlux.fromString(Mono.just(id)))
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .timeout(ANSWER)
                .onErrorResume(error -> Mono.just(String.valueOf(error)))
                .doOnNext(answer -> {
                    if (!answer.startsWith("20")) {
                        now.failed("webhook: " + shortened(answer));
                        sent.remove(id);
                    }
                });
    }

    private static String shortened(String answer) {
        String text = answer.replaceAll("(127\\.0\\.\\d+\\.\\d+|localhost)\\S*", "")
                .replaceAll("\"instance\".*", "");
        return text.substring(0, Math.min(160, text.length()));
    }

    private void arrived(String body) {
        Long began = sent.remove(body);
        if (began != null) {
            long number = Long.parseLong(body.substring(ID.length()));
            boolean behindPoison = source(number).equals(POISONED_SOURCE);
            (behindPoison ? figures.poisonedLine : figures.webhooks).add(began);
        }
    }

    private static String source(long number) {
        return "push" + number % EVENT_SOURCES;
    }

    /** What its callers notice from now on. */
    Figures measure() {
        var fresh = new Figures();
        figures = fresh;
        return fresh;
    }

    Figures figures() {
        return figures;
    }

    /**
     * Waits until every webhook that was sent by now has arrived, or was refused, which is a failure of its own. Returns those
     * that have not.
     */
    Set<String> undelivered(Duration within) {
        Set<String> due = new HashSet<>(sent.keySet());
        long deadline = System.nanoTime() + within.toNanos();
        while (!due.isEmpty() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            due.retainAll(sent.keySet());
        }
        return due;
    }

    @Override
    public void close() {
        loads.forEach(Disposable::dispose);
        pool.dispose();
        client.stop(Duration.ZERO).block(PATIENCE);
        upstream.disposeNow();
    }
}

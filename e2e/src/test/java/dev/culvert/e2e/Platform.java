package dev.culvert.e2e;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.server.ServerConfig;
import dev.culvert.server.TunnelServer;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/** A tunnel server with its certificates in a folder of its own, and clients on demand, all on free loopback ports. */
final class Platform implements AutoCloseable {
    static final String DOMAIN = "tunnels.test";
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final GenericSslContextSpec<?> TRUSTING = Http11SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));
    private static final GenericSslContextSpec<?> TRUSTING_HTTP2 = Http2SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));
    private static final Duration YEAR = Duration.ofDays(365);

    final Path folder;
    final TunnelServer server;
    private final List<TunnelClient> clients = new ArrayList<>();

    private Platform(Path folder, TunnelServer server) {
        this.folder = folder;
        this.server = server;
    }

    static Platform start(Path folder) {
        return start(folder, CallerLimits.defaults());
    }

    static Platform start(Path folder, CallerLimits limits) {
        return start(folder, limits, Duration.ofDays(1));
    }

    /** @param clientLife of the certificates that clients get */
    static Platform start(Path folder, CallerLimits limits, Duration clientLife) {
        certify(folder);
        return open(folder, limits, clientLife, false);
    }

    /** Starts a server whose configuration is the usual one, changed. */
    static Platform start(Path folder, UnaryOperator<ServerConfig> change) {
        certify(folder);
        ServerConfig usual = config(folder, CallerLimits.defaults(), Duration.ofDays(1), false);
        return new Platform(folder,
                Objects.requireNonNull(TunnelServer.start(change.apply(usual)).block(PATIENCE)));
    }

    private static void certify(Path folder) {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of(DOMAIN, "*." + DOMAIN), List.of(), YEAR)
                .writeTo(folder.resolve("edge.crt"),
                        folder.resolve("edge.key"));
        ca.issueServer(List.of("localhost", DOMAIN), List.of(InetAddress.getLoopbackAddress()), YEAR)
                .writeTo(folder.resolve("tunnel.crt"), folder.resolve("tunnel.key"));
    }

    /** Starts a server that takes no proof of a certificate but TLS's. */
    static Platform startRequiringMutualTls(Path folder) {
        certify(folder);
        return open(folder, CallerLimits.defaults(), Duration.ofDays(1), true);
    }

    /** Starts a server on the files and the data that one before left there. */
    static Platform restart(Path folder) {
        return open(folder, CallerLimits.defaults(), Duration.ofDays(1), false);
    }

    private static Platform open(Path folder, CallerLimits limits, Duration clientLife,
            boolean requireMutualTls) {
        return new Platform(folder,
                Objects.requireNonNull(
                        TunnelServer.start(config(folder, limits, clientLife, requireMutualTls))
                                .block(PATIENCE)));
    }

    private static ServerConfig config(Path folder, CallerLimits limits, Duration clientLife,
            boolean requireMutualTls) {
        return new ServerConfig(
                new ServerConfig.Edge(ANY_PORT, DOMAIN,
                        new ServerConfig.Tls(folder.resolve("edge.crt"), folder.resolve("edge.key")),
                        List.of(),
                        false, limits,
                        List.of(),
                        false, false, true),
                new ServerConfig.Tunnel(ANY_PORT,
                        new ServerConfig.Tls(folder.resolve("tunnel.crt"), folder.resolve("tunnel.key")),
                        false, false,
                        List.of(), false,
                        new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), clientLife),
                        requireMutualTls),
                new ServerConfig.Admin(ANY_PORT, folder.resolve("admin.token")), folder.resolve("data"),
                new ServerConfig.Store(Duration.ofSeconds(10)));
    }

    /** Creates a runtime through the admin API. Returns the file of its enrolment token. */
    Path createRuntime(String account, String name) throws IOException {
        String json = admin(HttpMethod.POST, "/api/v1/runtimes",
                "{\"account\":\"" + account + "\",\"name\":\"" + name + "\",\"hosts\":[]}");
        return tokenIn(json, account + "-" + name + ".token");
    }

    private Path tokenIn(String json, String file) throws IOException {
        var matcher = Pattern.compile("\"enrolmentToken\":\"([^\"]+)\"").matcher(json);
        if (!matcher.find()) {
            throw new IOException("no token in " + json);
        }
        return Files.writeString(folder.resolve(file), matcher.group(1));
    }

    /** Makes another enrolment token through the admin API, which lives for {@code ttl}. Returns its file. */
    Path enrolToken(String account, String name, String ttl) throws IOException {
        return tokenIn(admin(HttpMethod.POST,
                "/api/v1/runtimes/" + account + "/" + name + "/enrolment-tokens",
                "{\"ttl\":\"" + ttl + "\"}"), account + "-" + name + "-next.token");
    }

    /** Revokes a runtime's certificates through the admin API. */
    void revokeRuntime(String account, String name) {
        admin(HttpMethod.POST, "/api/v1/runtimes/" + account + "/" + name + "/revoke", "");
    }

    /** Deletes a runtime through the admin API. */
    void deleteRuntime(String account, String name) {
        admin(HttpMethod.DELETE, "/api/v1/runtimes/" + account + "/" + name, "");
    }

    /** Gives a runtime access rules through the admin API. Returns what that answered. */
    String access(String account, String name, String rules) {
        return admin(HttpMethod.PUT, "/api/v1/runtimes/" + account + "/" + name + "/access", rules);
    }

    /** Closes every live session through the admin API. */
    void disconnectAll() {
        sessions().parallelStream().forEach(id -> admin(HttpMethod.DELETE, "/api/v1/tunnels/" + id, ""));
    }

    /** Ids of all live sessions. */
    Set<String> sessions() {
        return Pattern.compile("\"id\":\"([^\"]+)\"")
                .matcher(tunnels())
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
    }

    /** What the admin API says of all live sessions. */
    String tunnels() {
        return admin(HttpMethod.GET, "/api/v1/tunnels", "");
    }

    /** What the admin API says of one runtime. */
    String runtime(String account, String name) {
        return admin(HttpMethod.GET, "/api/v1/runtimes/" + account + "/" + name, "");
    }

    /** What the admin API answers. */
    String admin(HttpMethod method, String path, String body) {
        return HttpClient.create()
                .headers(headers -> headers.set("authorization", "Bearer " + adminToken())
                        .set("content-type", "application/json"))
                .request(method)
                .uri("http://" + server.adminAddress() + path)
                .send(ByteBufFlux.fromString(Mono.just(body)))
                .responseContent()
                .aggregate()
                .asString()
                .defaultIfEmpty("")
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    /** The server's metrics. */
    String metrics() {
        return HttpClient.create()
                .get()
                .uri("http://" + server.adminAddress() + "/metrics")
                .responseContent()
                .aggregate()
                .asString()
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    /** How many clients the tunnel listener has refused for their certificates. */
    int refusals() {
        var counted = Pattern
                .compile("culvert_problems_total\\{cause=\"unauthorized\",hop=\"tunnel\"} (\\d+)")
                .matcher(metrics());
        return counted.find() ? Integer.parseInt(counted.group(1)) : 0;
    }

    /** The status and text of a client's {@code /readyz}. */
    static String readiness(TunnelClient client) {
        return HttpClient.create()
                .get()
                .uri("http://" + client.healthAddress() + "/readyz")
                .responseSingle(
                        (head, body) -> body.asString().map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    String adminToken() {
        try {
            return Files.readString(folder.resolve("admin.token")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ClientConfig clientConfig(String account, String name, @Nullable Path token, @Nullable URI to,
            @Nullable RoutingConfig router) {
        return clientConfig(account, name, token, to, router, server.tunnelAddress().port());
    }

    /** The same, through the port of something in front of the server. */
    ClientConfig clientConfig(String account, String name, @Nullable Path token, @Nullable URI to,
            @Nullable RoutingConfig router, int port) {
        return new ClientConfig(List.of(URI.create("wss://localhost:" + port)), null,
                token,
                folder.resolve("identity-" + account + "-" + name), new ClientConfig.Health(ANY_PORT), to,
                null, router, 2);
    }

    /** Starts a client and waits until its tunnel is up. */
    TunnelClient connect(ClientConfig config) throws InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        TunnelClient client = start(config, event -> {
            if (event instanceof ClientEvent.Connected) {
                connected.countDown();
            }
        });
        if (!connected.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("no tunnel within " + PATIENCE);
        }
        return client;
    }

    /** Starts a client. */
    TunnelClient start(ClientConfig config, Consumer<ClientEvent> events) {
        TunnelClient client = Objects.requireNonNull(TunnelClient.start(config, events).block(PATIENCE));
        clients.add(client);
        return client;
    }

    /** Creates a runtime and connects a client that sends everything to one upstream. */
    TunnelClient connect(String account, String name, URI to) throws IOException, InterruptedException {
        return connect(clientConfig(account, name, createRuntime(account, name), to, null));
    }

    /** A caller of one runtime's host, which trusts any certificate: TLS itself has tests of its own. */
    HttpClient caller(String account, String name) {
        return caller(account, name, ConnectionProvider.newConnection());
    }

    /** The same, on connections of the given pool. */
    HttpClient caller(String account, String name, ConnectionProvider connections) {
        return HttpClient.create(connections)
                .secure(spec -> spec.sslContext(TRUSTING))
                .headers(headers -> headers.set("host", account + "-" + name + "." + DOMAIN))
                .baseUrl("https://127.0.0.1:" + server.edgeAddress().port());
    }

    /** The same in HTTP/2. */
    HttpClient http2Caller(String account, String name, ConnectionProvider connections) {
        return caller(account, name, connections).protocol(HttpProtocol.H2)
                .secure(spec -> spec.sslContext(TRUSTING_HTTP2));
    }

    @Override
    public void close() {
        clients.forEach(client -> client.stop(Duration.ZERO).block(PATIENCE));
        server.stop(Duration.ZERO).block(PATIENCE);
    }
}

package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.ByteSize;
import dev.culvert.config.HostPort;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsConfig;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** The post-quantum key exchange on every link: caller to edge, client to server, client to upstream. */
class PostQuantumIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String HYBRID = "TLSv1.3/X25519MLKEM768";
    private static final CertificateAuthority CA = CertificateAuthority.create("Upstreams",
            Clock.systemUTC());
    private static final TlsMaterial MATERIAL = CA.issueServer(List.of("localhost"), List.of(),
            Duration.ofDays(1));
    private static final Logger ACCESS = (Logger) LoggerFactory.getLogger("access");
    private static final Logger LINKS = (Logger) LoggerFactory.getLogger(TlsLink.class);

    @TempDir
    Path folder;

    private final ListAppender<ILoggingEvent> access = new ListAppender<>();
    private final ListAppender<ILoggingEvent> refusals = new ListAppender<>();
    private @Nullable Level usual;

    @BeforeEach
    void listen() {
        access.start();
        refusals.start();
        ACCESS.addAppender(access);
        usual = ACCESS.getLevel();
        ACCESS.setLevel(Level.INFO);
        LINKS.addAppender(refusals);
        CA.writeTo(folder.resolve("upstreams.crt"), folder.resolve("upstreams.key"));
    }

    @AfterEach
    void close() {
        ACCESS.setLevel(usual);
        ACCESS.detachAppender(access);
        LINKS.detachAppender(refusals);
    }

    private static DisposableServer upstream(SslContext tls) {
        return HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .secure(spec -> spec.sslContext(tls))
                .handle((request, response) -> response.sendString(Mono.just("hello")))
                .bindNow();
    }

    private static SslContext classical() throws SSLException {
        return SslContextBuilder.forServer(MATERIAL.key(), MATERIAL.chain())
                .option(OpenSslContextOption.GROUPS, new String[]{"X25519", "P-256"})
                .build();
    }

    /** Routes to an upstream by the first segment of the path. */
    private RoutingConfig routes(Map<String, DisposableServer> upstreams, PostQuantum postQuantum) {
        return new RoutingConfig(
                upstreams.entrySet()
                        .stream()
                        .map(to -> RouteConfig.of("/" + to.getKey() + "/",
                                "https://localhost:" + to.getValue().port()))
                        .toList(),
                RoutingConfig.Policy.refusing(), Map.of())
                .reaching(new RoutingConfig.Reach(folder.resolve("upstreams.crt"), List.of(),
                        new ByteSize(128 << 10), 256, postQuantum));
    }

    /** A caller of Java's own engine, as many are: its groups are the classical ones. */
    private static String classicalCall(int port, String... protocols) {
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            try (Socket plain = new Socket()) {
                plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                plain.setSoTimeout((int) PATIENCE.toMillis());
                SSLSocket socket = (SSLSocket) tls.getSocketFactory()
                        .createSocket(plain, "acme-pq." + Platform.DOMAIN, port, true);
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setNamedGroups(new String[]{"x25519", "secp256r1"});
                parameters.setProtocols(protocols);
                socket.setSSLParameters(parameters);
                socket.startHandshake();
                return socket.getSession().getProtocol();
            }
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int status(HttpClient caller, String path) {
        return Objects.requireNonNull(caller.get()
                .uri(path)
                .responseSingle(
                        (head, body) -> body.asString().defaultIfEmpty("").thenReturn(head.status().code()))
                .block(PATIENCE));
    }

    private static String metrics(HostPort address) {
        return HttpClient.create()
                .get()
                .uri("http://" + address + "/metrics")
                .responseContent()
                .aggregate()
                .asString()
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    /** Handshakes of a link, by {@code version/group}. */
    private static double handshakes(String metrics, String link, String agreed) {
        String[] parts = agreed.split("/", 2);
        var found = Pattern.compile(Pattern.quote("culvert_tls_handshakes_total{group=\"" + parts[1]
                + "\",link=\"" + link + "\",version=\"" + parts[0] + "\"} ") + "(\\S+)").matcher(metrics);
        assertThat(found.find()).as(metrics).isTrue();
        return Double.parseDouble(found.group(1));
    }

    /** Of all handshakes of a link, those with the post-quantum group. */
    private static double share(String metrics, String link) {
        double all = Pattern.compile("culvert_tls_handshakes_total\\{group=\"[^\"]*\",link=\"" + link
                + "\",version=\"[^\"]*\"} (\\S+)")
                .matcher(metrics)
                .results()
                .mapToDouble(line -> Double.parseDouble(line.group(1)))
                .sum();
        return handshakes(metrics, link, HYBRID) / all;
    }

    private static double refused(String metrics, String link) {
        var found = Pattern.compile("culvert_tls_refused_total\\{link=\"" + link + "\"} (\\S+)")
                .matcher(metrics);
        assertThat(found.find()).as(metrics).isTrue();
        return Double.parseDouble(found.group(1));
    }

    private void assertLogged(String path, String text) {
        await().untilAsserted(() -> assertThat(List.copyOf(access.list)).anySatisfy(line -> assertThat(
                line.getKeyValuePairs().toString()).contains("path=\"" + path + "\"").contains(text)));
    }

    @Test
    void everyLinkPrefersItAndServesOthers() throws Exception {
        DisposableServer upstream = upstream(TlsContexts.edge(MATERIAL, List.of("http/1.1")));
        DisposableServer old = upstream(classical());
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect(platform.clientConfig("acme", "pq",
                    platform.createRuntime("acme", "pq"), null,
                    routes(Map.of("new", upstream, "old", old), PostQuantum.PREFER)));
            HttpClient caller = platform.caller("acme", "pq");
            int edge = platform.server.edgeAddress().port();

            assertThat(status(caller, "/new/x")).isEqualTo(200);
            assertThat(status(caller, "/old/x")).isEqualTo(200);
            assertThat(classicalCall(edge, "TLSv1.3")).isEqualTo("TLSv1.3");
            assertThat(classicalCall(edge, "TLSv1.2")).isEqualTo("TLSv1.2");

            assertLogged("/new/x", "tls=\"" + HYBRID + "\", onwardTls=\"" + HYBRID + "\"");
            String server = platform.metrics();
            assertThat(handshakes(server, "edge", HYBRID)).isGreaterThanOrEqualTo(2);
            assertThat(handshakes(server, "edge", "TLSv1.3/X25519")).isOne();
            assertThat(handshakes(server, "edge", "TLSv1.2/-")).isOne();
            assertThat(share(server, "tunnel")).isOne();
            String cluster = metrics(client.healthAddress());
            assertThat(share(cluster, "tunnel")).isOne();
            assertThat(handshakes(cluster, "upstream", HYBRID)).isOne();
            assertThat(handshakes(cluster, "upstream", "TLSv1.3/X25519")).isOne();
            assertThat(List.copyOf(refusals.list)).isEmpty();
        } finally {
            upstream.disposeNow();
            old.disposeNow();
        }
    }

    @Test
    void whereItIsRequiredOthersAreRefusedWithAWord() throws Exception {
        TlsConfig required = new TlsConfig(PostQuantum.REQUIRE);
        DisposableServer upstream = upstream(TlsContexts.edge(MATERIAL, List.of("http/1.1")));
        DisposableServer old = upstream(classical());
        try (Platform platform = Platform.start(folder, usual -> usual.with(required))) {
            TunnelClient client = platform.connect(platform.clientConfig("acme", "pq",
                    platform.createRuntime("acme", "pq"), null,
                    routes(Map.of("new", upstream, "old", old), PostQuantum.REQUIRE))
                    .with(required));
            HttpClient caller = platform.caller("acme", "pq");
            int edge = platform.server.edgeAddress().port();

            assertThat(status(caller, "/new/x")).isEqualTo(200);
            assertThat(status(caller, "/old/x")).isEqualTo(502);
            assertThat(classicalCall(edge, "TLSv1.3")).contains("handshake_failure");
            assertThat(classicalCall(edge, "TLSv1.2")).contains("protocol_version");
            assertThat(classicalCall(platform.server.tunnelAddress().port(), "TLSv1.3"))
                    .contains("handshake_failure");

            String server = platform.metrics();
            assertThat(share(server, "edge")).isOne();
            assertThat(share(server, "tunnel")).isOne();
            assertThat(refused(server, "edge")).isEqualTo(2);
            assertThat(refused(server, "tunnel")).isOne();
            String cluster = metrics(client.healthAddress());
            assertThat(share(cluster, "upstream")).isOne();
            assertThat(refused(cluster, "upstream")).isPositive();
            assertThat(List.copyOf(refusals.list)).extracting(line -> line.getKeyValuePairs().getFirst())
                    .extracting(pair -> pair.value)
                    .contains("edge", "tunnel", "upstream");
            assertLogged("/old/x", "cause=\"upstream");
        } finally {
            upstream.disposeNow();
            old.disposeNow();
        }
    }
}

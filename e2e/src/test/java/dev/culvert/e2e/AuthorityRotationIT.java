package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.TunnelClient;
import dev.culvert.launcher.certs.AuthorityRotation;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** The steps of docs/operations.md by which one authority follows another, under traffic. */
class AuthorityRotationIT {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final Duration LIFE = Duration.ofSeconds(10);
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");

    @TempDir
    Path folder;

    @Test
    void clientsFollowTheAuthoritiesOfCertificatesAndListenersAndNoTunnelIsLost() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.get("/",
                        (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();
        ConnectionProvider connections = ConnectionProvider.create("callers", 8);
        try (Platform platform = Platform.start(folder, CallerLimits.defaults(), LIFE)) {
            platform.connect("acme", "prod", URI.create("http://127.0.0.1:" + upstream.port()));
            var rotation = new AuthorityRotation(new CertsFolder(folder));
            CertificateAuthority old = CertificateAuthority.load(folder.resolve("ca.crt"),
                    folder.resolve("ca.key"));
            X509Certificate present = old.certificate();
            Load load = new Load(platform.caller("acme", "prod", connections), 8);
            Disposable callers = load.start();

            rotation.begin();
            awaitThat(() -> stored("ca.crt").size() == 2);
            assertThat(stored("ca.crt").getFirst()).isEqualTo(present);
            X509Certificate next = stored("ca.crt").getLast();

            rotation.change();
            awaitThat(() -> isBy(next, shown(platform)));
            awaitThat(() -> isBy(next, stored("client.crt").getFirst()));
            assertThat(stored("ca.crt")).containsExactly(next, present);
            dialAgain(platform, load);

            rotation.renewListeners();
            rotation.finish();
            awaitThat(() -> stored("ca.crt").equals(List.of(next)));
            dialAgain(platform, load);

            callers.dispose();
            System.out.printf("rotation: %d requests, %d failed%n", load.served(), load.failures().size());
            assertThat(load.failures()).isEmpty();
            assertOldAuthorityIsRefused(platform, old, next);
        } finally {
            upstream.disposeNow();
            connections.dispose();
        }
    }

    /** All connections at once: requests wait for the next ones, which must be trusted in both directions. */
    private static void dialAgain(Platform platform, Load load) {
        load.awaitMore(50);
        platform.disconnectAll();
        load.awaitMore(50);
        awaitThat(() -> platform.sessions().size() == 2);
    }

    /** Neither clients with its certificates get in, nor do clients that believe it alone find their server. */
    private void assertOldAuthorityIsRefused(Platform platform, CertificateAuthority old,
            X509Certificate next)
            throws Exception {
        int before = platform.refusals();
        TunnelClient late = platform.start(platform.clientConfig("acme", "old", identityBy(old, "old", next),
                NOWHERE, null), event -> {});
        awaitThat(() -> platform.refusals() > before);
        assertThat(late.isLive()).isFalse();

        TunnelClient lost = platform.start(platform.clientConfig("acme", "lost",
                identityBy(old, "lost", old.certificate()), NOWHERE, null), event -> {});
        awaitThat(() -> status(lost).contains("is not trusted"));
        assertThat(lost.isLive()).isFalse();
    }

    /** An identity folder with a fresh certificate of the runtime by {@code authority}. Returns null: there is no token. */
    private @Nullable Path identityBy(CertificateAuthority authority, String name,
            X509Certificate believed) throws IOException {
        KeyPair keys = KeyPairs.generate();
        ClientIdentity identity = ClientIdentity.from(stored("client.crt").getFirst());
        X509Certificate leaf = authority.issueClient(CertificateRequest.create(keys), identity,
                Duration.ofHours(1));
        Path home = Files.createDirectory(folder.resolve("identity-acme-" + name));
        new TlsMaterial(List.of(leaf), keys.getPrivate()).writeTo(home.resolve("client.crt"),
                home.resolve("client.key"));
        PemFiles.writeCertificates(home.resolve("ca.crt"), List.of(believed));
        return null;
    }

    private List<X509Certificate> stored(String file) {
        return PemFiles.readCertificates(folder.resolve("identity-acme-prod").resolve(file));
    }

    private static boolean isBy(X509Certificate authority, X509Certificate leaf) {
        try {
            leaf.verify(authority.getPublicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    /** The tunnel listener's certificate, as a dial sees it now. */
    private static X509Certificate shown(Platform platform) throws IOException, GeneralSecurityException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        try (var socket = (SSLSocket) tls.getSocketFactory()
                .createSocket("127.0.0.1", platform.server.tunnelAddress().port())) {
            socket.startHandshake();
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    private static String status(TunnelClient client) {
        return HttpClient.create()
                .get()
                .uri("http://" + client.healthAddress() + "/status")
                .responseContent()
                .aggregate()
                .asString()
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(PATIENCE).until(condition);
    }
}

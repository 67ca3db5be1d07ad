package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.Pem;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Who may call, through server and tunnel. */
class CallersIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final CertificateAuthority CA = CertificateAuthority.create("Callers", Clock.systemUTC());

    @TempDir
    Path folder;

    @Test
    void aRuntimeIsClosedUntilItsRulesOpenItToThoseTheyName() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.sendString(
                        Mono.just("hello " + request.requestHeaders().get("culvert-caller-subject"))))
                .bindNow();
        try (Platform platform = Platform.start(folder, Listeners::closed)) {
            platform.connect("acme", "prod", URI.create("http://127.0.0.1:" + upstream.port()));
            HttpClient anonymous = platform.caller("acme", "prod");
            KeyPair keys = KeyPairs.generate();
            HttpClient known = asking(anonymous, keys);

            assertThat(get(known, "/x")).startsWith("403 ");
            assertThat(platform.access("acme", "prod", rules())).contains("clientCertificate");

            assertThat(get(known, "/x")).isEqualTo("200 hello CN=acme-ann");
            assertThat(get(asking(anonymous, null), "/x")).startsWith("403 ");
            assertThat(get(anonymous, "/x")).as("asked for no host, so not for a certificate")
                    .startsWith("421");
            assertThat(get(anonymous, "/open/x")).isEqualTo("200 hello null");
        } finally {
            upstream.disposeNow();
        }
    }

    private static String rules() {
        return "{\"rules\":[{\"path\":\"/\",\"require\":\"clientCertificate\",\"clientCertificate\":{\"ca\":\""
                + Pem.text(CA.certificate()).replace("\n", "\\n")
                + "\"}},{\"path\":\"/open/\",\"require\":\"none\"}]}";
    }

    /** The same, but its handshakes ask for the runtime's host, and show a certificate if they have one. */
    private static HttpClient asking(HttpClient caller, @Nullable KeyPair keys) throws SSLException {
        SslContextBuilder tls = SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE);
        if (keys != null) {
            tls.keyManager(keys.getPrivate(), CA.issueClient(CertificateRequest.create(keys),
                    new ClientIdentity("acme", "ann", "id-1"), Duration.ofHours(1)));
        }
        var context = tls.build();
        return caller.secure(spec -> spec.sslContext(context)
                .serverNames(new SNIHostName("acme-prod." + Platform.DOMAIN)));
    }

    private static String get(HttpClient caller, String path) {
        return Objects.requireNonNull(caller.get()
                .uri(path)
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> (head.status().code() + " " + text).strip()))
                .block(PATIENCE));
    }
}

package dev.culvert.e2e;

import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/**
 * Stands in front of a server with its own certificate, and passes enrolments on: but for an answer that it loses, or a nonce
 * that it gives out again.
 */
final class EnrolmentFront implements AutoCloseable {
    private static final GenericSslContextSpec<?> TRUSTING = Http11SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));

    private final DisposableServer listener;
    private final HttpClient server;
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toLose = new AtomicInteger();
    private volatile @Nullable String replayed;

    private record Answer(int status, String type, String body) {}

    EnrolmentFront(Platform platform) {
        TlsMaterial material = TlsMaterial.load(platform.folder.resolve("tunnel.crt"),
                platform.folder.resolve("tunnel.key"));
        server = HttpClient.create(ConnectionProvider.newConnection())
                .secure(spec -> spec.sslContext(TRUSTING))
                .headers(headers -> headers.set("content-type", "application/json"))
                .baseUrl("https://localhost:" + platform.server.tunnelAddress().port());
        listener = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .secure(spec -> spec.sslContext(TlsContexts.edge(material, List.of("http/1.1"))))
                .route(routes -> routes.post("/tunnel/v1/enrol", this::answer))
                .bindNow();
    }

    int port() {
        return listener.port();
    }

    /** Loses the next {@code count} certificates on their way to the client. */
    EnrolmentFront losing(int count) {
        toLose.set(count);
        return this;
    }

    /** Answers every request for a nonce with this document from now on. */
    EnrolmentFront replaying(String nonceDocument) {
        replayed = nonceDocument;
        return this;
    }

    /** What the server answered, whether it arrived or not. */
    List<String> answers() {
        return List.copyOf(answers);
    }

    private Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        return request.receive().aggregate().asString().flatMap(body -> {
            String again = replayed;
            if (again != null && !body.contains("\"csr\"")) {
                return send(response, new Answer(200, "application/json", again));
            }
            return server.post()
                    .uri("/tunnel/v1/enrol")
                    .send(ByteBufFlux.fromString(Mono.just(body)))
                    .responseSingle((head, content) -> content.asString()
                            .map(text -> new Answer(head.status().code(),
                                    head.responseHeaders().get("content-type", ""), text)))
                    .flatMap(answer -> {
                        answers.add(answer.body);
                        if (answer.status == 201 && toLose.getAndDecrement() > 0) {
                            return Mono.<Void>error(new AssertionError("lost on purpose"));
                        }
                        return send(response, answer);
                    });
        });
    }

    private static Mono<Void> send(HttpServerResponse response, Answer answer) {
        return response.status(answer.status)
                .header("content-type", answer.type)
                .sendString(Mono.just(answer.body))
                .then();
    }

    @Override
    public void close() {
        listener.disposeNow();
    }
}

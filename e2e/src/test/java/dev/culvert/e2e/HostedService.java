package dev.culvert.e2e;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.server.HttpServer;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/** A service beside the platform, on an address of its own, which may be stopped and started again. */
final class HostedService implements AutoCloseable {
    private static final String ADDRESS = "127.0.7.9";
    private final @Nullable Path folder;
    /** What {@code /events} sends. */
    final Sinks.Many<String> events = Sinks.many().multicast().directBestEffort();
    private final Set<Channel> connections = ConcurrentHashMap.newKeySet();
    private DisposableServer server;

    /** @param folder of {@code tunnel.crt} and its key, for TLS; null: none */
    HostedService(@Nullable Path folder) {
        this.folder = folder;
        server = started(0);
    }

    private DisposableServer started(int port) {
        HttpServer made = HttpServer.create()
                .host(folder == null ? ADDRESS : "127.0.0.1")
                .port(port)
                .doOnConnection(accepted -> connections.add(accepted.channel()))
                .route(routes -> routes
                        .get("/api/ping", (request, response) -> response.sendString(Mono.just("ok")))
                        .route(request -> request.uri().startsWith("/head"),
                                (request, response) -> request.receive()
                                        .aggregate()
                                        .asString()
                                        .defaultIfEmpty("")
                                        .flatMapMany(body -> response.sendString(Mono
                                                .just(request.method() + " " + request.uri() + "\n"
                                                        + request.requestHeaders()
                                                                .entries()
                                                                .stream()
                                                                .map(field -> field.getKey() + ": "
                                                                        + field.getValue() + "\n")
                                                                .collect(Collectors.joining())
                                                        + "\n" + body))))
                        .get("/moved",
                                (request, response) -> response
                                        .sendRedirect("http://169.254.169.254/latest/meta-data"))
                        .post("/upload", (request, response) -> response.sendString(hash(request.receive())))
                        .get("/events",
                                (request, response) -> response.sse()
                                        .send(events.asFlux()
                                                .startWith("first")
                                                .map(text -> Unpooled.copiedBuffer("data: " + text + "\n\n",
                                                        StandardCharsets.UTF_8)),
                                                part -> true))
                        .ws("/ws",
                                (in, out) -> out.sendObject(in.receiveFrames().map(WebSocketFrame::retain))));
        if (folder != null) {
            GenericSslContextSpec<?> tls = Http11SslContextSpec.forServer(
                    folder.resolve("tunnel.crt").toFile(), folder.resolve("tunnel.key").toFile());
            made = made.secure(spec -> spec.sslContext(tls));
        }
        return made.bindNow();
    }

    /** The hexadecimal SHA-256 of a body. */
    static Mono<String> hash(Flux<ByteBuf> body) {
        return body.reduceWith(HostedService::digest, (digest, bytes) -> {
            digest.update(bytes.nioBuffer());
            return digest;
        }).map(digest -> HexFormat.of().formatHex(digest.digest()));
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    URI uri() {
        return folder == null
                ? URI.create("http://" + ADDRESS + ":" + server.port())
                : URI.create("https://localhost:" + server.port());
    }

    /** Refuses connections from now on, and closes those that are there. */
    void stop() {
        server.disposeNow();
        connections.forEach(Channel::close);
        connections.clear();
    }

    /** Starts it again at the port that it had. */
    void startAgain() {
        server = started(server.port());
    }

    @Override
    public void close() {
        server.disposeNow();
    }
}

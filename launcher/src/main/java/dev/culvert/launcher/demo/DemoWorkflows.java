package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.LoopResources;

/**
 * A stand-in for the workflows server, on a real socket: {@code /api/v1/info}, events of workflows as SSE, a
 * WebSocket echo, an upload sink that answers with the hash, and downloads of any size.
 */
final class DemoWorkflows {
    static final int EVENTS = 5;
    /**
     * The time between two events: long enough that the first event is received before the last is sent,
     * short enough for a check.
     */
    private static final Duration BETWEEN_EVENTS = Duration.ofMillis(250);
    private static final long MAX_DOWNLOAD = 1L << 34;

    private DemoWorkflows() {}

    /** Listens on a free port of 127.0.0.1. The caller disposes it. */
    static Mono<DisposableServer> start(LoopResources loops) {
        return HttpServer.create()
                .runOn(loops)
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .route(DemoWorkflows::routes)
                .bind()
                .map(server -> server);
    }

    /** The address of a started server. */
    static HostPort address(DisposableServer server) {
        return HostPort.of((InetSocketAddress) server.address());
    }

    private static void routes(HttpServerRoutes routes) {
        routes.get("/api/v1/info",
                (request, response) -> json(response, "{\"managedNamespace\":\"demo\",\"standIn\":true}"))
                .get("/api/v1/workflow-events/{namespace}", DemoWorkflows::events)
                .post("/upload", DemoWorkflows::upload)
                .put("/upload", DemoWorkflows::upload)
                .get("/download/{bytes}", DemoWorkflows::download)
                .get("/ws/echo", (request, response) -> response.sendWebsocket(
                        (in, out) -> out.sendObject(
                                in.aggregateFrames(1 << 20).receiveFrames().handle(DemoWorkflows::echo))));
    }

    private static void echo(WebSocketFrame frame,
            SynchronousSink<WebSocketFrame> sink) {
        if (frame instanceof TextWebSocketFrame || frame instanceof BinaryWebSocketFrame) {
            sink.next(frame.retain());
        }
    }

    private static Publisher<Void> events(HttpServerRequest request, HttpServerResponse response) {
        String namespace = String.valueOf(request.param("namespace"));
        Flux<ByteBuf> events = Flux.interval(Duration.ZERO, BETWEEN_EVENTS)
                .take(EVENTS)
                .map(index -> ByteBufUtil.writeUtf8(response.alloc(),
                        "id: " + index + "\ndata: {\"type\":\"MODIFIED\",\"namespace\":\""
                                + namespace.replaceAll("[^a-z0-9-]", "") + "\",\"sentAtMillis\":"
                                + System.currentTimeMillis() + "}\n\n"));
        return response.sse().send(events, event -> true);
    }

    private static Publisher<Void> upload(HttpServerRequest request, HttpServerResponse response) {
        MessageDigest digest = DemoBytes.digest();
        return request.receive().reduce(0L, (total, chunk) -> {
            DemoBytes.update(digest, chunk);
            return total + chunk.readableBytes();
        })
                .defaultIfEmpty(0L)
                .flatMap(total -> Mono.from(
                        json(response,
                                "{\"bytes\":" + total + ",\"sha256\":\"" + DemoBytes.hex(digest) + "\"}")));
    }

    private static Publisher<Void> download(HttpServerRequest request, HttpServerResponse response) {
        String text = String.valueOf(request.param("bytes"));
        if (!text.matches("\\d{1,11}") || Long.parseLong(text) > MAX_DOWNLOAD) {
            return response.status(400).sendString(Mono.just("expected: /download/{0..17179869184}\n"));
        }
        long bytes = Long.parseLong(text);
        return response.header("Content-Type", "application/octet-stream")
                .header("Content-Length", text)
                .send(DemoBytes.stream(bytes));
    }

    private static Publisher<Void> json(HttpServerResponse response, String body) {
        return response.header("Content-Type", "application/json")
                .sendString(Mono.just(body), StandardCharsets.UTF_8);
    }
}

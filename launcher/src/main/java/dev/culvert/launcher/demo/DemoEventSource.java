package dev.culvert.launcher.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.config.HostPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A webhook event source on a real socket. Records received webhooks byte for byte and lists them on {@code
 * GET …/received}, the newest last.
 */
final class DemoEventSource {
    /** The number of webhooks that it keeps. Older ones are dropped. */
    static final int KEPT = 100;

    private final ObjectMapper json = new ObjectMapper();
    private final Deque<Webhook> received = new ArrayDeque<>();

    /**
     * A received webhook.
     *
     * @param body the bytes in Base64
     */
    record Webhook(String method, String uri, Map<String, String> headers, String body) {}

    /** Listens on a free port of 127.0.0.1. The caller disposes it. */
    Mono<DisposableServer> start(LoopResources loops) {
        return HttpServer.create()
                .runOn(loops)
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle(this::answer)
                .bind()
                .map(server -> server);
    }

    static HostPort address(DisposableServer server) {
        return HostPort.of((InetSocketAddress) server.address());
    }

    /** The webhooks received so far, the newest last. */
    List<Webhook> received() {
        synchronized (received) {
            return List.copyOf(received);
        }
    }

    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        if (request.method().name().equals("GET") && request.fullPath().endsWith("/received")) {
            return response.header("Content-Type", "application/json")
                    .sendString(Mono.fromCallable(this::list));
        }
        return request.receive().aggregate().asByteArray().defaultIfEmpty(new byte[0]).flatMap(body -> {
            record(request, body);
            return Mono.from(response.header("Content-Type", "application/json")
                    .sendString(Mono.just("{\"received\":" + body.length + "}")));
        });
    }

    private void record(HttpServerRequest request, byte[] body) {
        var headers = new LinkedHashMap<String, String>();
        request.requestHeaders()
                .forEach(header -> headers.merge(header.getKey(), header.getValue(), (a, b) -> a + ", " + b));
        synchronized (received) {
            received.add(new Webhook(request.method().name(), request.uri(), headers,
                    Base64.getEncoder().encodeToString(body)));
            if (received.size() > KEPT) {
                received.removeFirst();
            }
        }
    }

    private String list() throws JsonProcessingException {
        return json.writerWithDefaultPrettyPrinter().writeValueAsString(received());
    }
}

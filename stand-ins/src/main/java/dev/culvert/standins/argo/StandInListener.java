package dev.culvert.standins.argo;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/** Listens for HTTP on a free port of 127.0.0.1. Safe for use by any thread. */
final class StandInListener {
    private volatile @Nullable DisposableServer server;

    /** Completes when it listens. The caller of {@code bind} also stops it. */
    Mono<Void> bind(LoopResources loops,
            BiFunction<HttpServerRequest, HttpServerResponse, Publisher<Void>> answer) {
        return HttpServer.create()
                .runOn(loops)
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle(answer)
                .bind()
                .doOnNext(bound -> server = bound)
                .then();
    }

    /** Returns its address; port 0 before it listens. */
    URI uri() {
        DisposableServer bound = server;
        return URI.create("http://127.0.0.1:" + (bound == null ? 0 : bound.port()));
    }

    /** Closes the listener and all connections. */
    Mono<Void> stop() {
        DisposableServer bound = server;
        return bound == null ? Mono.empty() : Mono.fromRunnable(bound::dispose).then(bound.onDispose());
    }
}

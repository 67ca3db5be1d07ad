package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.InetSocketAddressResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/**
 * A caller of the demo's edge. Resolves every host to 127.0.0.1, as {@code curl --resolve} does, and trusts
 * only the demo's CA. The creator closes it.
 */
final class DemoCaller implements AutoCloseable {
    private final ConnectionProvider connections = ConnectionProvider.create("demo-caller", 16);
    private final HttpClient http;
    private final int port;

    /** Reads the CA's file. Blocks. */
    DemoCaller(HostPort edge, Path ca, LoopResources loops) {
        this.port = edge.port();
        GenericSslContextSpec<?> tls = Http11SslContextSpec.forClient()
                .configure(builder -> builder.trustManager(ca.toFile()));
        this.http = HttpClient.create(connections)
                .runOn(loops)
                .resolver(new Loopback())
                .secure(spec -> spec.sslContext(tls));
    }

    /** {@code https://host:port/path}. */
    String url(String host, String path) {
        return "https://" + host + ":" + port + path;
    }

    /** The underlying client, for requests that the methods below do not support. */
    HttpClient http() {
        return http;
    }

    /** Sends a request without a body and reads the complete response. */
    Mono<Answer> get(String host, String path) {
        return http.get()
                .uri(url(host, path))
                .responseSingle(
                        (head, body) -> body.asString(StandardCharsets.UTF_8)
                                .defaultIfEmpty("")
                                .map(text -> new Answer(head.status().code(), head.responseHeaders(), text)));
    }

    /** Sends a body and reads the complete response. */
    Mono<Answer> send(HttpMethod method, String host, String path, HttpHeaders headers, Flux<ByteBuf> body) {
        return http.headers(own -> own.add(headers))
                .request(method)
                .uri(url(host, path))
                .send(body)
                .responseSingle((head, content) -> content.asString(StandardCharsets.UTF_8)
                        .defaultIfEmpty("")
                        .map(text -> new Answer(head.status().code(), head.responseHeaders(), text)));
    }

    @Override
    public void close() {
        connections.dispose();
    }

    /** A response with its complete body. */
    record Answer(int status, HttpHeaders headers, String body) {
        /** Fails the check unless the status equals {@code expected}. */
        Answer expect(int expected) {
            if (status != expected) {
                throw new DemoException(
                        "answered " + status + " instead of " + expected + ": " + shortBody());
            }
            return this;
        }

        /** Fails the check unless the body contains this text. */
        Answer expect(String text) {
            if (!body.contains(text)) {
                throw new DemoException("the answer lacks " + text + ": " + shortBody());
            }
            return this;
        }

        private String shortBody() {
            return body.length() > 300 ? body.substring(0, 300) + " …" : body;
        }
    }

    /** Resolves every name to 127.0.0.1. */
    private static final class Loopback extends AddressResolverGroup<InetSocketAddress> {
        @Override
        protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
            return new InetSocketAddressResolver(executor, new InetNameResolver(executor) {
                @Override
                protected void doResolve(String name, Promise<InetAddress> promise) throws Exception {
                    promise.setSuccess(InetAddress.getByAddress(name, new byte[]{127, 0, 0, 1}));
                }

                @Override
                protected void doResolveAll(String name, Promise<List<InetAddress>> promise)
                        throws Exception {
                    promise.setSuccess(List.of(InetAddress.getByAddress(name, new byte[]{127, 0, 0, 1})));
                }
            });
        }
    }
}

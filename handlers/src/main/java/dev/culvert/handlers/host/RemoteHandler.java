package dev.culvert.handlers.host;

import dev.culvert.config.UriHost;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HostResolver;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.client.WebsocketClientSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.resources.ConnectionProvider;

/**
 * A handler in a separate process, in any language. Forwards requests below its mount to an {@code http://}
 * upstream with unchanged path and Host. Bodies stream in both directions; WebSocket is supported. The
 * handler has a guard like every other one.
 */
public final class RemoteHandler implements EdgeHandlerProvider, EdgeHandler {
    private static final List<String> HOP_BY_HOP = List.of("connection", "keep-alive", "proxy-connection",
            "proxy-authenticate", "proxy-authorization", "te", "transfer-encoding", "upgrade");
    private static final List<String> CREDENTIALS = List.of("authorization", "x-access-token");
    private static final int CONNECT_MILLIS = 5000;

    private final String name;
    private final String mount;
    private final String base;
    private final HandlerLimits limits;
    private final boolean credentials;
    private final String via = "1.1 " + ForwardingRules.newPseudonym();
    private final ConnectionProvider connections;
    private final HttpClient client;

    /**
     * Creates the handler. The first request opens a connection.
     *
     * @param to {@code http://host:port}, without a path; throws IllegalArgumentException for anything else
     * @param credentials whether the caller's {@code Authorization} and {@code x-access-token} are forwarded
     * @param loops the event loops; the caller disposes them
     */
    public RemoteHandler(String name, String mount, URI to, HandlerLimits limits, boolean credentials,
            EventLoops loops) {
        if (!"http".equals(to.getScheme()) || UriHost.of(to) == null || !to.getRawPath().matches("/?")
                || to.getRawQuery() != null || to.getRawUserInfo() != null) {
            throw new IllegalArgumentException(
                    "remote handler " + name + ": " + to + " (expected: http://host:port)");
        }
        this.name = name;
        this.mount = mount;
        this.base = "http://" + to.getRawAuthority();
        this.limits = limits;
        this.credentials = credentials;
        this.connections = ConnectionProvider.builder("culvert-remote-" + name)
                .maxConnections(limits.maxConcurrent())
                .maxIdleTime(Duration.ofSeconds(30))
                .build();
        this.client = HttpClient.create(connections)
                .runOn(loops)
                .resolver(new HostResolver(loops))
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .disableRetry(true);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> mounts() {
        return List.of(mount);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        return this;
    }

    @Override
    public HandlerLimits limits() {
        return limits;
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return connections.disposeLater();
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        if (request.headers().getAll(HttpHeaderNames.VIA).stream().anyMatch(value -> value.contains(via))) {
            return Mono.error(new EdgeException(Problem.of(Cause.LOOP_DETECTED, Hop.EDGE,
                    "the request has passed this handler before")));
        }
        boolean upgrade = request.headers()
                .containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true);
        Mono<EdgeResponse> answer = upgrade ? webSocket(request) : http(request);
        return answer.onErrorMap(error -> !(error instanceof EdgeException), RemoteHandler::failure);
    }

    private Mono<EdgeResponse> http(EdgeRequest request) {
        HttpHeaders fields = requestFields(request);
        boolean body = request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
                || request.headers().contains(HttpHeaderNames.CONTENT_LENGTH);
        HttpClient.RequestSender sender = client.headers(all -> all.clear().add(fields))
                .request(request.method())
                .uri(base + request.target());
        HttpClient.ResponseReceiver<?> sent = body
                ? sender.send((_, out) -> sending(out, request.body()))
                : sender;
        return sent
                .<EdgeResponse>responseConnection(
                        (response, connection) -> Mono.just(answer(response, connection)))
                .next();
    }

    private static NettyOutbound sending(NettyOutbound out, Flux<ByteBuf> body) {
        return out.send(body, any -> true);
    }

    /**
     * Builds the response. The connection returns to its pool after the last byte, or is closed if the body
     * is truncated.
     */
    private static EdgeResponse answer(HttpClientResponse response, Connection connection) {
        Flux<ByteBuf> body = connection.inbound()
                .receive()
                .retain()
                .doFinally(signal -> connection.dispose());
        return new EdgeResponse.Http(response.status(), passedOn(response.responseHeaders()), body,
                response.responseHeaders().contains(HttpHeaderNames.TRAILER)
                        ? response.trailerHeaders()
                        : Mono.empty());
    }

    private Mono<EdgeResponse> webSocket(EdgeRequest request) {
        HttpHeaders fields = requestFields(request);
        String protocols = request.headers().get(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL);
        for (String name : fields.names()) {
            if (name.toLowerCase(Locale.ROOT).startsWith("sec-websocket-")) {
                fields.remove(name); // the WebSocket client sends its own handshake fields
            }
        }
        var spec = WebsocketClientSpec.builder().maxFramePayloadLength(1 << 20);
        if (protocols != null) {
            spec.protocols(protocols);
        }
        return client.headers(all -> all.clear().add(fields))
                .websocket(spec.build())
                .uri(base.replaceFirst("http", "ws") + request.target())
                .connect()
                .map(RemoteHandler::exchange);
    }

    private static EdgeResponse exchange(Connection connection) {
        HttpHeaders fields = new DefaultHttpHeaders();
        var inbound = (WebsocketInbound) connection.inbound();
        String protocol = inbound.selectedSubprotocol();
        if (protocol != null) {
            fields.set(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        return new EdgeResponse.WebSocket(fields, frames -> {
            Flux<WebSocketFrame> received = inbound.receiveFrames().map(WebSocketFrame::retain);
            Mono<Void> sent = connection.outbound().sendObject(frames, any -> true).then().onErrorComplete();
            return Flux.merge(received, sent.then(Mono.<WebSocketFrame>empty()))
                    .doFinally(signal -> connection.dispose());
        });
    }

    /**
     * The fields to forward. A caller's credentials give access to more than this handler, so they are
     * removed unless the operator has enabled them.
     */
    private HttpHeaders requestFields(EdgeRequest request) {
        HttpHeaders fields = passedOn(request.headers());
        if (!credentials) {
            CREDENTIALS.forEach(fields::remove);
        }
        return fields.add(HttpHeaderNames.VIA, via);
    }

    /** Removes hop-by-hop fields (RFC 9110 §7.6.1). */
    private static HttpHeaders passedOn(HttpHeaders received) {
        HttpHeaders fields = new DefaultHttpHeaders().add(received);
        for (String value : received.getAll(HttpHeaderNames.CONNECTION)) {
            for (String option : value.split(",", -1)) {
                String listed = option.strip().toLowerCase(Locale.ROOT);
                if (!listed.isEmpty() && !listed.equals("host") && !listed.equals("content-length")) {
                    fields.remove(listed);
                }
            }
        }
        HOP_BY_HOP.forEach(fields::remove);
        return fields;
    }

    private static EdgeException failure(Throwable error) {
        boolean refused = error instanceof ConnectException || error instanceof UnknownHostException;
        return new EdgeException(refused
                ? Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "the handler takes no connection")
                : Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "the handler closed the connection early"));
    }
}

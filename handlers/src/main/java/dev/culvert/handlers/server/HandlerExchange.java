package dev.culvert.handlers.server;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.fields.RequestId;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.WebsocketServerSpec;

/** One request and its response. */
final class HandlerExchange {
    private static final Logger LOG = LoggerFactory.getLogger(HandlerExchange.class);

    private final HttpServerRequest incoming;
    private final HttpServerResponse outgoing;
    private final Channel channel;
    private final String requestId;
    private final Connections connections;
    private final @Nullable Telemetry telemetry;
    private final ForwardingRules origins;

    HandlerExchange(HttpServerRequest incoming, HttpServerResponse outgoing, Connections connections,
            @Nullable Telemetry telemetry, ForwardingRules origins) {
        this.origins = origins;
        this.connections = connections;
        this.incoming = incoming;
        this.outgoing = outgoing;
        this.telemetry = telemetry;
        this.channel = channel(outgoing);
        String sent = incoming.requestHeaders().get("x-request-id");
        this.requestId = sent != null && RequestId.valid(sent) ? sent : RequestId.create().toString();
    }

    /**
     * Serves the request. Completes when the response is written to the socket; cancelled when the caller
     * disconnects. A request whose target or host is not valid is refused, and the connection closed.
     */
    Mono<Void> serve(EdgeHandler handler) {
        String target;
        try {
            target = HandlerTarget.originForm(incoming.method(), incoming.uri(), incoming.requestHeaders(),
                    incoming.version().equals(HttpVersion.HTTP_1_0));
        } catch (EdgeException e) {
            boolean ambiguous = e.problem().cause() == Cause.BAD_REQUEST
                    || incoming.method().equals(HttpMethod.CONNECT); // the bytes behind it are no request
            if (ambiguous || hasLength(incoming.requestHeaders())) {
                outgoing.keepAlive(false); // where the next request begins is in doubt
            }
            return send(failed(e));
        }
        if (target.equals(TargetForm.ASTERISK)) {
            return send(EdgeResponse.Http.empty(HttpResponseStatus.OK)
                    .with(HttpHeaderNames.ALLOW, TargetForm.SERVED_METHODS));
        }
        return Mono.defer(() -> handler.handle(request(target)))
                .switchIfEmpty(
                        Mono.error(
                                () -> new IllegalStateException("the handler completed without a response")))
                .onErrorResume(error -> Mono.just(failed(error)))
                .flatMap(this::send);
    }

    /** Whether a body may follow. That of a CONNECT has no meaning (RFC 9110 §9.3.6). */
    private static boolean hasLength(HttpHeaders headers) {
        return headers.contains(HttpHeaderNames.CONTENT_LENGTH)
                || headers.contains(HttpHeaderNames.TRANSFER_ENCODING);
    }

    /** Answers with a problem without calling a handler, and closes the connection. */
    Mono<Void> refuse(Problem problem) {
        outgoing.keepAlive(false);
        return send(failed(new EdgeException(problem)));
    }

    private EdgeRequest request(String target) {
        HttpHeaders headers = incoming.requestHeaders();
        headers.set("x-request-id", requestId);
        InetSocketAddress remote = (InetSocketAddress) channel.remoteAddress();
        var context = new RequestContext(requestId, null, caller(channel), null, remote,
                origins.source(remote.getAddress(), headers.getAll("x-forwarded-for")));
        // receive() releases each buffer after onNext: the subscriber gets its own reference.
        return new EdgeRequest(incoming.method(), target, headers, incoming.receive().retain(), context);
    }

    private EdgeResponse failed(Throwable error) {
        Failure failure = Failure.of(error);
        if (!channel.isActive()) {
            return failure.response(requestId); // the caller has disconnected: no fault to log, and no receiver
        }
        if (telemetry != null) {
            telemetry.problem(failure.problem());
        }
        if (!failure.expected()) {
            LOG.atError()
                    .setCause(error)
                    .addKeyValue("requestId", requestId)
                    .addKeyValue("method", incoming.method())
                    .log("handler failed");
        }
        return failure.response(requestId);
    }

    private Mono<Void> send(EdgeResponse response) {
        return switch (response) {
            case EdgeResponse.Http http -> send(http);
            case EdgeResponse.WebSocket webSocket -> isUpgrade() ? upgrade(webSocket) : upgradeRequired();
        };
    }

    private Mono<Void> send(EdgeResponse.Http response) {
        outgoing.status(response.status());
        for (var field : response.headers()) {
            outgoing.addHeader(field.getKey(), field.getValue());
        }
        int status = response.status().code();
        if (incoming.method().equals(HttpMethod.HEAD) || status == 204 || status == 304) {
            abandon(response);
            return outgoing.send();
        }
        var begun = new AtomicBoolean();
        var trailers = new AtomicReference<@Nullable HttpHeaders>();
        outgoing.trailerHeaders(fields -> {
            HttpHeaders last = trailers.get();
            if (last != null) {
                fields.set(last);
            }
        });
        Mono<Void> body = new PacedWriter<>(channel, response.body().doOnSubscribe(s -> begun.set(true)),
                ByteBuf::readableBytes).then(response.trailers().doOnNext(trailers::set).then());
        Mono<Void> held = response.hold().equals(EdgeResponse.Http.NOTHING)
                ? body
                : Mono.firstWithSignal(response.hold(), body);
        return outgoing.sendHeaders().then(held.onErrorResume(this::truncated)).then().doFinally(signal -> {
            if (!begun.get()) {
                abandon(response);
            }
        });
    }

    /**
     * Subscribes to a body that is not sent, and to what is held for it, and cancels them, so that their
     * resources are freed.
     */
    private static void abandon(EdgeResponse.Http response) {
        response.body().subscribe(new Abandoning<>());
        response.hold().subscribe(new Abandoning<>());
    }

    private static final class Abandoning<T> extends BaseSubscriber<T> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            subscription.cancel();
        }

        @Override
        protected void hookOnNext(T late) {
            ReferenceCountUtil.release(late);
        }
    }

    /**
     * Resets the connection. The head is already sent, so only a reset shows the caller that the body is
     * incomplete.
     */
    private Mono<Void> truncated(Throwable error) {
        LOG.atWarn()
                .addKeyValue("requestId", requestId)
                .addKeyValue("error", error.toString())
                .log("response body failed, connection reset");
        Connections.reset(channel);
        return Mono.never();
    }

    private boolean isUpgrade() {
        HttpHeaders headers = incoming.requestHeaders();
        return incoming.method().equals(HttpMethod.GET)
                && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && headers.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true);
    }

    private Mono<Void> upgradeRequired() {
        var problem = Problem.of(Cause.UPGRADE_REQUIRED, Hop.EDGE, "this resource speaks WebSocket only");
        EdgeResponse.Http response = Failure.of(new EdgeException(problem)).response(requestId);
        return send(response.with(HttpHeaderNames.UPGRADE, "websocket")
                .with(HttpHeaderNames.CONNECTION, "upgrade"));
    }

    private Mono<Void> upgrade(EdgeResponse.WebSocket response) {
        var spec = WebsocketServerSpec.builder().maxFramePayloadLength(EdgeServer.MAX_WEB_SOCKET_FRAME_BYTES);
        String protocol = response.headers().get(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL);
        if (protocol != null) {
            spec.protocols(protocol);
        }
        for (var field : response.headers()) {
            if (!field.getKey().equalsIgnoreCase("sec-websocket-protocol")) {
                outgoing.addHeader(field.getKey(), field.getValue());
            }
        }
        return outgoing.sendWebsocket((in, out) -> {
            Flux<WebSocketFrame> received = in.receiveFrames().map(WebSocketFrame::retain);
            Flux<WebSocketFrame> answers = response.exchange()
                    .apply(received)
                    .onErrorResume(this::webSocketFailed);
            // The HTTP exchange ends with the handshake, this one with the last frame.
            connections.enterWebSocket(channel);
            return new PacedWriter<>(channel, answers, frame -> frame.content().readableBytes())
                    .doFinally(signal -> connections.leave());
        }, spec.build()).then();
    }

    private Flux<WebSocketFrame> webSocketFailed(Throwable error) {
        LOG.atWarn()
                .addKeyValue("requestId", requestId)
                .addKeyValue("error", error.toString())
                .log("WebSocket exchange failed");
        return Flux
                .defer(() -> Flux.just(new CloseWebSocketFrame(WebSocketCloseStatus.INTERNAL_SERVER_ERROR)));
    }

    private static Channel channel(HttpServerResponse response) {
        var channel = new AtomicReference<@Nullable Channel>();
        response.withConnection(connection -> channel.set(connection.channel()));
        Channel found = channel.get();
        if (found == null) {
            throw new IllegalStateException("a response without a connection");
        }
        return found;
    }

    /** The subject of the caller's TLS certificate, if it presented a trusted one. */
    private static @Nullable Principal caller(Channel channel) {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        try {
            return tls == null ? null : tls.engine().getSession().getPeerPrincipal();
        } catch (SSLPeerUnverifiedException e) {
            return null;
        }
    }
}

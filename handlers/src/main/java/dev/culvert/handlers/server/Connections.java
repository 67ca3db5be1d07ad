package dev.culvert.handlers.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.channel.ChannelOperations;

/** The open connections and running exchanges of one listener, and how they are ended. Safe for use by any thread. */
final class Connections {
    private static final AttributeKey<Boolean> WEB_SOCKET = AttributeKey.valueOf(Connections.class,
            "webSocket");

    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final AtomicInteger exchanges = new AtomicInteger();
    private final Sinks.Empty<Void> drained = Sinks.empty();
    private volatile boolean draining;

    /** Counts a connection until it closes. One that is accepted while draining is closed at once. */
    void opened(Channel channel) {
        channels.add(channel);
        if (draining) {
            channel.eventLoop().execute(channel::close);
        }
    }

    /** Counts a new exchange. False when it must be refused; {@link #leave} is due either way. */
    boolean enter() {
        exchanges.incrementAndGet();
        return !draining;
    }

    void leave() {
        if (exchanges.decrementAndGet() == 0 && draining) {
            drained.tryEmitEmpty();
        }
    }

    /** Counts the exchange that a handshake began; {@link #leave} is due at its end. */
    void enterWebSocket(Channel channel) {
        exchanges.incrementAndGet();
        channel.attr(WEB_SOCKET).set(true);
    }

    /** Drops the socket: the peer sees a reset, never a response that looks complete. */
    static void reset(Channel channel) {
        channel.eventLoop().execute(() -> {
            if (!channel.isActive()) {
                return;
            }
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            // From the first handler on, so that TLS does not end the stream politely.
            ChannelHandlerContext first = channel.pipeline().firstContext();
            if (first == null) {
                var _ = channel.close();
            } else {
                var _ = first.close();
            }
        });
    }

    /**
     * Refuses new exchanges, lets the running ones finish within {@code grace}, then ends what is left: WebSockets with
     * 1001, other exchanges with a reset. Completes when all connections are closed; cancelling does not stop it.
     */
    Mono<Void> drain(Duration grace) {
        return Mono.defer(() -> {
            draining = true;
            channels.stream()
                    .filter(channel -> ChannelOperations.get(channel) == null)
                    .forEach(Connections::closeFlushed);
            if (exchanges.get() == 0) {
                drained.tryEmitEmpty();
            }
            return drained.asMono().timeout(grace, Mono.fromRunnable(this::endExchanges)).then(closed());
        });
    }

    private void endExchanges() {
        for (Channel channel : channels) {
            if (Boolean.TRUE.equals(channel.attr(WEB_SOCKET).get())) {
                channel.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE))
                        .addListener(ChannelFutureListener.CLOSE);
            } else if (ChannelOperations.get(channel) != null) {
                reset(channel);
            }
        }
    }

    private Mono<Void> closed() {
        return Mono.create(sink -> {
            channels.forEach(Connections::closeFlushed);
            channels.newCloseFuture().addListener(done -> sink.success());
        });
    }

    /** Closes behind everything that was written before. */
    private static void closeFlushed(Channel channel) {
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
}

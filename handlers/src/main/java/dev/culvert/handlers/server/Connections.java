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

/** Tracks and ends the open connections and running exchanges of one listener. Safe for use by any thread. */
final class Connections {
    private static final AttributeKey<Boolean> WEB_SOCKET = AttributeKey.valueOf(Connections.class,
            "webSocket");

    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final AtomicInteger exchanges = new AtomicInteger();
    private final Sinks.Empty<Void> drained = Sinks.empty();
    private volatile boolean draining;

    /**
     * Counts a connection until it closes. A connection that is accepted while draining is closed at once.
     */
    void opened(Channel channel) {
        channels.add(channel);
        if (draining) {
            channel.eventLoop().execute(channel::close);
        }
    }

    /**
     * Counts a new exchange. Returns false if it must be refused. The caller must call {@link #leave} in both
     * cases.
     */
    boolean enter() {
        exchanges.incrementAndGet();
        return !draining;
    }

    void leave() {
        if (exchanges.decrementAndGet() == 0 && draining) {
            drained.tryEmitEmpty();
        }
    }

    /** Counts the exchange that a handshake began. The caller must call {@link #leave} at its end. */
    void enterWebSocket(Channel channel) {
        exchanges.incrementAndGet();
        channel.attr(WEB_SOCKET).set(true);
    }

    /** Closes the socket with a reset, so that a truncated response never looks complete. */
    static void reset(Channel channel) {
        channel.eventLoop().execute(() -> {
            if (!channel.isActive()) {
                return;
            }
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            // Closes from the first handler, so that TLS sends no close_notify.
            ChannelHandlerContext first = channel.pipeline().firstContext();
            if (first == null) {
                var _ = channel.close();
            } else {
                var _ = first.close();
            }
        });
    }

    /**
     * Refuses new exchanges and lets the running ones finish within {@code grace}. Then ends the remaining
     * ones: WebSockets with 1001, other exchanges with a reset. Completes when all connections are closed.
     * Cancelling does not stop the drain.
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

    /** Closes the channel after all earlier writes. */
    private static void closeFlushed(Channel channel) {
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
}

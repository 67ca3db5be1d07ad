package dev.culvert.client.dial;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.protocol.frame.Hello;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakerFactory;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of the WebSocket handshake. Is replaced by the tunnel's handler, or reports the failure.
 */
final class ClientHandshake extends ChannelInboundHandlerAdapter {
    /**
     * States that this client can prove its certificate in band to a server that did not receive it by TLS.
     */
    private static final String PROOF_FIELD = "culvert-proof";
    /** Names the connection before its HELLO does, so that the server can place it beside the others. */
    private static final String CONNECTION_FIELD = "culvert-connection";
    private static final int MAX_MESSAGE = 65_535;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final WebSocketClientHandshaker handshaker;
    private final Consumer<Channel> upgraded;
    private final Consumer<Channel> done;
    private final Consumer<Throwable> failed;
    private final String server;
    /**
     * Whether success or failure was reported. A failed handshake is followed by the end of the connection,
     * which must not be reported too.
     */
    private boolean settled;
    /** Whether TLS is set up. */
    private boolean established;
    private @Nullable Future<?> timeout;

    ClientHandshake(URI server, int connection, Consumer<Channel> upgraded, Consumer<Channel> done,
            Consumer<Throwable> failed) {
        this.server = server.getHost() + ":" + server.getPort();
        this.upgraded = upgraded;
        this.done = done;
        this.failed = failed;
        this.handshaker = WebSocketClientHandshakerFactory.newHandshaker(server, WebSocketVersion.V13,
                Hello.SUBPROTOCOL, false,
                new DefaultHttpHeaders().set(PROOF_FIELD, "opening").set(CONNECTION_FIELD, connection),
                MAX_MESSAGE);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent tls) {
            if (tls.isSuccess()) {
                established = true;
                handshaker.handshake(ctx.channel());
                timeout = ctx.executor()
                        .schedule(
                                () -> fail(ctx, DialFailure.unreachable(server + " did not answer in time")),
                                TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                fail(ctx, DialFailure.unreachable(server + ": TLS: " + TlsFault.of(tls.cause())));
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (message instanceof FullHttpResponse response && !handshaker.isHandshakeComplete()) {
                answered(ctx, response);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void answered(ChannelHandlerContext ctx, FullHttpResponse response) {
        if (response.status().code() != 101) {
            String text = server + " answered " + response.status().code() + ": "
                    + Refusal.detail(response.content().toString(StandardCharsets.UTF_8));
            boolean refused = response.status().code() == 401 || response.status().code() == 403;
            fail(ctx, refused ? DialFailure.refused(text) : unavailable(text, response));
            return;
        }
        try {
            handshaker.finishHandshake(ctx.channel(), response);
        } catch (WebSocketHandshakeException otherService) {
            fail(ctx, DialFailure.unreachable(server
                    + " opened a WebSocket that is none of " + Hello.SUBPROTOCOL
                    + ": it is another service, or a proxy answers in its place"));
            return;
        }
        settle();
        ctx.pipeline().addLast(HandlerNames.WEB_SOCKET_MESSAGE, new WebSocketFrameAggregator(MAX_MESSAGE));
        upgraded.accept(ctx.channel());
        ctx.pipeline().remove(this);
        done.accept(ctx.channel());
    }

    /**
     * Reads {@code Retry-After} in whole seconds (RFC 9110 §10.2.3). Culvert's servers never send its other
     * form, a date.
     */
    private static DialFailure unavailable(String text, FullHttpResponse response) {
        String seconds = response.headers().get("retry-after", "");
        if (seconds.matches("\\d{1,9}")) {
            return DialFailure.overloaded(text, Duration.ofSeconds(Long.parseLong(seconds)));
        }
        return switch (response.status().code()) {
            case 502, 503, 504 -> DialFailure.absent(text); // from a balancer without a server
            default -> DialFailure.unreachable(text);
        };
    }

    private void settle() {
        settled = true;
        Future<?> running = timeout;
        if (running != null) {
            running.cancel(false);
        }
    }

    private void fail(ChannelHandlerContext ctx, DialFailure failure) {
        if (!settled) {
            settle();
            failed.accept(failure);
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(ctx, DialFailure.unreachable(server + " closed the connection"));
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(ctx, DialFailure.unreachable(server + ": " + TlsFault.of(cause, established)));
    }
}

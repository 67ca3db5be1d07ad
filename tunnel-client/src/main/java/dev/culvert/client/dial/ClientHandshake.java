package dev.culvert.client.dial;

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
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The client's end of the WebSocket handshake; gives way to the tunnel's handler, or reports why there is no tunnel. */
final class ClientHandshake extends ChannelInboundHandlerAdapter {
    private static final String SUBPROTOCOL = "culvert.v1";
    /** Says that this client can prove its certificate to a server that TLS did not bring it to. */
    private static final String PROOF_FIELD = "culvert-proof";
    private static final int MAX_MESSAGE = 65_535;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final WebSocketClientHandshaker handshaker;
    private final Consumer<Channel> upgraded;
    private final Consumer<Channel> done;
    private final Consumer<Throwable> failed;
    private final String server;
    /** Success and failure are told once: a failed handshake is seen again as the connection's end. */
    private boolean settled;
    private @Nullable Future<?> timeout;

    ClientHandshake(URI server, Consumer<Channel> upgraded, Consumer<Channel> done,
            Consumer<Throwable> failed) {
        this.server = server.getHost() + ":" + server.getPort();
        this.upgraded = upgraded;
        this.done = done;
        this.failed = failed;
        this.handshaker = WebSocketClientHandshakerFactory.newHandshaker(server, WebSocketVersion.V13,
                SUBPROTOCOL, false,
                new DefaultHttpHeaders().set(PROOF_FIELD, "opening"), MAX_MESSAGE);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent tls) {
            if (tls.isSuccess()) {
                handshaker.handshake(ctx.channel());
                timeout = ctx.executor()
                        .schedule(
                                () -> fail(ctx, DialFailure.unreachable(server + " did not answer in time")),
                                TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                fail(ctx, DialFailure.unreachable(server + ": TLS: " + reason(tls.cause())));
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    /** TLS engines wrap the verdict on a certificate several times; it is what the operator needs. */
    private static String reason(Throwable failure) {
        Throwable told = failure;
        for (Throwable inner = failure; inner != null; inner = inner.getCause()) {
            if (inner instanceof CertificateException) {
                told = inner;
                break;
            }
        }
        return Objects.toString(told.getMessage(), told.getClass().getSimpleName());
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
        } catch (WebSocketHandshakeException e) {
            fail(ctx, DialFailure.unreachable(server + ": " + e.getMessage()));
            return;
        }
        settle();
        ctx.pipeline().addLast(new WebSocketFrameAggregator(MAX_MESSAGE));
        upgraded.accept(ctx.channel());
        ctx.pipeline().remove(this);
        done.accept(ctx.channel());
    }

    /** RFC 9110 §10.2.3: whole seconds; its other form, a date, none of our servers sends. */
    private static DialFailure unavailable(String text, FullHttpResponse response) {
        String seconds = response.headers().get("retry-after", "");
        if (seconds.matches("\\d{1,9}")) {
            return DialFailure.overloaded(text, Duration.ofSeconds(Long.parseLong(seconds)));
        }
        return switch (response.status().code()) {
            case 502, 503, 504 -> DialFailure.absent(text); // a balancer's, which has no server
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
        fail(ctx, DialFailure.unreachable(server + ": " + cause.getMessage()));
    }
}

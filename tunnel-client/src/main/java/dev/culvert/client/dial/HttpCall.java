package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.relay.tls.TlsLink;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One HTTPS request on its own connection, which is closed after the response. Confined to the connection's
 * event loop.
 */
public final class HttpCall extends ChannelInboundHandlerAdapter {
    private static final Duration TLS_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(15);

    private final FullHttpRequest request;
    private final MonoSink<Answer> sink;
    private String version = "";
    private boolean sent;
    private boolean settled;
    private @Nullable ScheduledFuture<?> timeout;

    /**
     * A response.
     *
     * @param body the complete body
     * @param tls the TLS version of the connection
     */
    public record Answer(int status, HttpHeaders fields, String body, String tls) {}

    private HttpCall(FullHttpRequest request, MonoSink<Answer> sink) {
        this.request = request;
        this.sink = sink;
    }

    /**
     * Performs TLS and the request on a new connection. Takes ownership of the connection and of the request.
     * Subscribe on the connection's event loop. Cancelling closes the connection. Errors: those of the
     * connection, {@link TimeoutException}, and Netty's {@code TooLongHttpContentException} for more than
     * {@code maxBytes}. Never empty.
     */
    public static Mono<Answer> over(Channel channel, SslContext tls, HostPort server, FullHttpRequest request,
            int maxBytes) {
        return Mono.create(sink -> {
            sink.onCancel(channel::close);
            request.headers().set(HttpHeaderNames.HOST, server.toString());
            if (!request.headers().contains(HttpHeaderNames.CONNECTION)) {
                request.headers().set(HttpHeaderNames.CONNECTION, "close");
            }
            SslHandler ssl = tls.newHandler(channel.alloc(), Dialler.bareName(server.host()), server.port());
            TlsLink.watch(tls, ssl, channel);
            ssl.setHandshakeTimeoutMillis(TLS_TIMEOUT.toMillis());
            channel.pipeline()
                    .addLast(ssl, new HttpClientCodec(), new HttpObjectAggregator(maxBytes, true),
                            new HttpCall(request, sink));
        });
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent tls) {
            if (tls.isSuccess()) {
                sent = true;
                version = ctx.pipeline().get(SslHandler.class).engine().getSession().getProtocol();
                timeout = ctx.executor()
                        .schedule(() -> fail(ctx, new TimeoutException()), ANSWER_TIMEOUT.toMillis(),
                                TimeUnit.MILLISECONDS);
                ctx.writeAndFlush(request);
            } else {
                fail(ctx, tls.cause());
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (message instanceof FullHttpResponse response && settle(ctx)) {
                if (response.decoderResult().isFailure()) {
                    sink.error(response.decoderResult().cause());
                } else {
                    sink.success(new Answer(response.status().code(), response.headers().copy(),
                            response.content().toString(StandardCharsets.UTF_8), version));
                }
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable inner = cause instanceof DecoderException wrapper && wrapper.getCause() != null
                ? Objects.requireNonNull(wrapper.getCause())
                : cause;
        fail(ctx, sent && (inner instanceof SSLException || inner instanceof ClosedChannelException)
                ? DialFailure.unreachable(TlsFault.of(inner, true))
                : inner);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(ctx, DialFailure
                .unreachable("the connection was closed " + (sent ? "without an answer" : "during TLS")));
        ctx.fireChannelInactive();
    }

    private void fail(ChannelHandlerContext ctx, Throwable cause) {
        if (settle(ctx)) {
            sink.error(cause);
        }
    }

    /** Ends the call and closes the connection. Returns true only for the first invocation. */
    private boolean settle(ChannelHandlerContext ctx) {
        if (settled) {
            return false;
        }
        settled = true;
        if (!sent) {
            request.release();
        }
        if (timeout != null) {
            timeout.cancel(false);
        }
        ctx.close();
        return true;
    }
}

package dev.culvert.client.doctor;

import dev.culvert.client.dial.Connector;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.dial.Finding;
import dev.culvert.client.dial.TlsChecks;
import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Checks whether the network path keeps a connection that is idle after TLS. A tunnel is idle for at most 9
 * s, so longer idle time-outs of the path do no harm. The server closes connections that do not identify
 * themselves after some seconds. It sends TLS's close_notify, which no intermediary can forge. A cut by an
 * intermediary has no close_notify.
 */
final class IdleCheck {
    /** The interval of a tunnel's heartbeats. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(9);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);
    private static final String ADVICE = "raise the idle time-out of the proxy, firewall or load balancer on the way above 30 s";

    private final Connector connector;
    private final EventLoop loop;
    private final TlsChecks.Trusts trusts;

    IdleCheck(Connector connector, EventLoop loop, TlsChecks.Trusts trusts) {
        this.connector = connector;
        this.loop = loop;
        this.trusts = trusts;
    }

    /** Watches a connection for at most {@code bound}. Never fails, never empty. */
    Mono<Finding> check(URI server, HostPort address, Duration bound) {
        return Mono.fromCallable(() -> trusts.observing(verdict -> {}))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(tls -> connector.open(address, loop)
                        .flatMap(channel -> watched(channel, tls, server, address, bound)))
                .onErrorResume(
                        e -> Mono.just(Finding.warn("idle", "not measured: " + Reason.of(e), "try again")));
    }

    private static Mono<Finding> watched(Channel channel, SslContext tls, URI server, HostPort address,
            Duration bound) {
        return Mono.<Finding>create(sink -> {
            sink.onCancel(channel::close);
            SslHandler ssl = tls.newHandler(channel.alloc(), Dialler.bareName(address.host()),
                    address.port());
            channel.pipeline().addLast(ssl, new HttpClientCodec(), new Watch(server, address, bound, sink));
        });
    }

    /** Records the events of the connection with their times. */
    private static final class Watch extends ChannelInboundHandlerAdapter {
        private final URI server;
        private final HostPort address;
        private final Duration bound;
        private final MonoSink<Finding> sink;
        private long silentSince;
        private boolean silent;
        private boolean asked;
        private boolean settled;
        private @Nullable ScheduledFuture<?> timer;

        Watch(URI server, HostPort address, Duration bound, MonoSink<Finding> sink) {
            this.server = server;
            this.address = address;
            this.bound = bound;
            this.sink = sink;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent tls) {
                if (tls.isSuccess()) {
                    silent = true;
                    silentSince = System.nanoTime();
                    timer = ctx.executor().schedule(() -> ask(ctx), bound.toMillis(), TimeUnit.MILLISECONDS);
                } else {
                    cut(ctx);
                }
            } else if (event instanceof SslCloseCompletionEvent farewell && farewell.isSuccess() && !asked) {
                tell(ctx, Finding.ok("idle", "a silent connection lived " + seconds()
                        + ", until the server closed it, as it does with what becomes no tunnel; the way kept it that long."
                        + " Tunnels are silent for " + HEARTBEAT.toSeconds()
                        + " s at most: if sessions are lost that often, something on the way cuts them"));
            }
            ctx.fireUserEventTriggered(event);
        }

        /** Sends a request to test whether the connection is still alive. */
        private void ask(ChannelHandlerContext ctx) {
            asked = true;
            var request = TlsChecks.upgrade(server);
            request.headers().set(HttpHeaderNames.HOST, address.toString());
            ctx.writeAndFlush(request);
            timer = ctx.executor()
                    .schedule(() -> tell(ctx, Finding.failed("idle",
                            "a connection that was silent for " + bound.toSeconds()
                                    + " s is dead, and nobody said so",
                            ADVICE)), ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
            if (asked) {
                tell(ctx, Finding.ok("idle",
                        "a connection that was silent for " + bound.toSeconds() + " s still works"));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            cut(ctx);
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            cut(ctx);
        }

        private void cut(ChannelHandlerContext ctx) {
            if (!silent) {
                tell(ctx, Finding.warn("idle", "not measured: TLS did not come about", "see tls above"));
                return;
            }
            String what = "a silent connection was cut after " + seconds() + ", by something on the way";
            boolean harmful = System.nanoTime() - silentSince < HEARTBEAT.toNanos();
            tell(ctx, harmful
                    ? Finding.failed("idle", what + ": sooner than a tunnel's heartbeats come ("
                            + HEARTBEAT.toSeconds() + " s)", ADVICE)
                    : Finding.warn("idle",
                            what + "; a tunnel's heartbeats come every " + HEARTBEAT.toSeconds()
                                    + " s",
                            ADVICE));
        }

        private String seconds() {
            return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - silentSince) + " s";
        }

        private void tell(ChannelHandlerContext ctx, Finding finding) {
            if (!settled) {
                settled = true;
                if (timer != null) {
                    timer.cancel(false);
                }
                sink.success(finding);
                ctx.close();
            }
        }
    }
}

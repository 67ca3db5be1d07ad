package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.resolver.NoopAddressResolverGroup;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Opens connections to a server, directly or through the outbound proxy, at the first of its addresses that
 * accepts one. Thread-safe.
 */
public final class Connector {
    /** The time-out for each address, long enough for a lost SYN and its retransmission. */
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    /** The time-out of a proxy's handshake, in which the proxy connects to the server. */
    private static final Duration PROXY_TIMEOUT = Duration.ofSeconds(10);

    private final EventLoops loops;
    private final Outbound outbound;
    private final Names names;

    /** Resolves names. */
    @FunctionalInterface
    interface Names {
        /**
         * All addresses of a host in the order of attempts. Emits on {@code loop}. Errors: {@link
         * DialFailure}. Never empty.
         */
        Mono<List<InetAddress>> all(String host, EventLoop loop);
    }

    public Connector(EventLoops loops, Outbound outbound) {
        this(loops, outbound, new NameLookup(loops)::all);
    }

    Connector(EventLoops loops, Outbound outbound, Names names) {
        this.loops = loops;
        this.outbound = outbound;
        this.names = names;
    }

    /** The host of a URI without the brackets of an IPv6 address. */
    static String bare(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** The proxy for a server; null if it is reached directly. */
    public @Nullable OutboundProxy proxyFor(HostPort server) {
        return outbound.proxyFor(server.host(), server.port());
    }

    /**
     * Opens a connection on which no byte was sent yet. Emits it on {@code loop} in the same pass of the
     * loop, so the subscriber must add its handlers at once. The subscriber owns the emitted connection and
     * closes it; cancelling earlier closes it. Errors: {@link DialFailure}. Never empty.
     */
    public Mono<Channel> open(HostPort server, EventLoop loop) {
        OutboundProxy proxy = proxyFor(server);
        return proxy == null
                ? names.all(server.host(), loop)
                        .flatMap(addresses -> anyOf(addresses, 0, address -> direct(server, address, loop)))
                : names.all(proxy.address().host(), loop)
                        .onErrorMap(DialFailure.class,
                                e -> DialFailure.unreachable("the proxy " + proxy + ": " + e.getMessage()))
                        .flatMap(addresses -> anyOf(addresses, 0,
                                address -> proxied(server, proxy, address, loop)));
    }

    /** One attempt to connect. */
    private interface Attempt {
        Mono<Channel> at(InetAddress address);
    }

    /** Reports an unreachable address. The next address may be reachable. */
    private static final class Unreached extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** Whether its host refused the connection, so that no server listens there. */
        private final boolean absent;

        private Unreached(String message, boolean absent) {
            super(message, null, false, false);
            this.absent = absent;
        }

        private static Unreached direct(HostPort server, Throwable cause) {
            return new Unreached(server + ": " + Reason.of(cause),
                    cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException));
        }

        private DialFailure failure(int addresses) {
            String text = getMessage()
                    + (addresses == 1 ? "" : "; none of its " + addresses + " addresses can be reached");
            return absent ? DialFailure.absent(text) : DialFailure.unreachable(text);
        }
    }

    private static Mono<Channel> anyOf(List<InetAddress> addresses, int index, Attempt attempt) {
        return attempt.at(addresses.get(index))
                .onErrorResume(Unreached.class, e -> index + 1 < addresses.size()
                        ? anyOf(addresses, index + 1, attempt)
                        : Mono.error(e.failure(addresses.size())));
    }

    private Mono<Channel> direct(HostPort server, InetAddress address, EventLoop loop) {
        return Mono.create(sink -> {
            var remote = new InetSocketAddress(address, server.port());
            ChannelFuture connecting = bootstrap(loop, null).connect(remote);
            sink.onCancel(() -> connecting.channel().close());
            connecting.addListener(done -> {
                if (done.isSuccess()) {
                    ready(connecting.channel(), sink);
                } else {
                    sink.error(Unreached.direct(server, done.cause()));
                }
            });
        });
    }

    private Mono<Channel> proxied(HostPort server, OutboundProxy proxy, InetAddress address, EventLoop loop) {
        return proxy.handler(new InetSocketAddress(address, proxy.address().port()))
                .flatMap(handler -> Mono.create(sink -> through(server, proxy, handler, loop, sink)));
    }

    private void through(HostPort server, OutboundProxy proxy, ProxyHandler handler, EventLoop loop,
            MonoSink<Channel> sink) {
        handler.setConnectTimeoutMillis(PROXY_TIMEOUT.toMillis());
        InetAddress literal = NoProxy.literal(server.host());
        var target = literal == null ? server.unresolved() : new InetSocketAddress(literal, server.port());
        ChannelFuture connecting = bootstrap(loop, handler).connect(target);
        sink.onCancel(() -> connecting.channel().close());
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                sink.error(new Unreached(
                        "the proxy " + proxy + " can't be reached: " + Reason.of(done.cause()), false));
                return;
            }
            handler.connectFuture().addListener(let -> {
                if (let.isSuccess()) {
                    ready(connecting.channel(), sink);
                } else {
                    sink.error(ProxyRefusal.of(proxy, server, let.cause()));
                }
            });
        });
    }

    private Bootstrap bootstrap(EventLoop loop, @Nullable ProxyHandler proxy) {
        return new Bootstrap().group(loop)
                .channel(loops.socketChannel())
                .resolver(NoopAddressResolverGroup.INSTANCE)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(CONNECT_TIMEOUT.toMillis()))
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (proxy != null) {
                            channel.pipeline().addLast(HandlerNames.OUTBOUND_PROXY, proxy);
                        }
                        channel.pipeline().addLast(HandlerNames.CONNECT_WAIT, new Listened());
                    }
                });
    }

    private static void ready(Channel channel, MonoSink<Channel> sink) {
        channel.pipeline().remove(Listened.class);
        sink.success(channel);
    }

    /**
     * A placeholder for the subscriber's handlers. Swallows exceptions, because until then futures report
     * failures.
     */
    private static final class Listened extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}

package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import dev.culvert.http.net.ConnectRace;
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
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Opens connections to a server, directly or through the outbound proxy, at the first of its addresses that
 * accepts one ({@link ConnectRace}). Thread-safe.
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
                        .flatMap(addresses -> raced(loop, sink -> new Direct(server, addresses, loop, sink)))
                : names.all(proxy.address().host(), loop)
                        .onErrorMap(DialFailure.class,
                                e -> DialFailure.unreachable("the proxy " + proxy + ": " + e.getMessage()))
                        .flatMap(addresses -> handlers(proxy, addresses))
                        .flatMap(handlers -> raced(loop,
                                sink -> new Proxied(server, proxy, handlers, loop, sink)));
    }

    /** One handler for each address of the proxy. */
    private static Mono<List<ProxyHandler>> handlers(OutboundProxy proxy, List<InetAddress> addresses) {
        return Flux.fromIterable(addresses)
                .concatMap(address -> proxy.handler(new InetSocketAddress(address, proxy.address().port())))
                .collectList();
    }

    /** Runs a race on the loop, until its sink has a result. Cancelling ends it. */
    private static <A> Mono<Channel> raced(EventLoop loop,
            Function<MonoSink<Channel>, Attempts<A>> attempts) {
        return Mono.create(sink -> {
            Attempts<A> course = attempts.apply(sink);
            var race = new ConnectRace<>(loop, course);
            sink.onCancel(() -> loop.execute(() -> {
                race.cancel();
                course.cancel();
            }));
            loop.execute(() -> race.start(Objects.requireNonNull(course.next())));
        });
    }

    /** The attempts of one dial, each at another address. */
    private abstract static class Attempts<A> implements ConnectRace.Course<A> {
        final MonoSink<Channel> sink;
        private final Iterator<A> left;
        private @Nullable Channel connected;

        Attempts(List<A> all, MonoSink<Channel> sink) {
            this.left = all.iterator();
            this.sink = sink;
        }

        @Override
        public final @Nullable A next() {
            return left.hasNext() ? left.next() : null;
        }

        @Override
        public void failed(A address, Throwable cause) {}

        @Override
        public void lost(A address) {}

        @Override
        public void won(A address, Channel channel) {
            connected = channel;
        }

        final void cancel() {
            if (connected != null) {
                connected.close();
            }
        }

        final void ready(Channel channel) {
            channel.pipeline().remove(Listened.class);
            sink.success(channel);
        }
    }

    /** Connects to the server itself. */
    private final class Direct extends Attempts<InetAddress> {
        private final HostPort server;
        private final int addresses;
        private final EventLoop loop;

        Direct(HostPort server, List<InetAddress> all, EventLoop loop, MonoSink<Channel> sink) {
            super(all, sink);
            this.server = server;
            this.addresses = all.size();
            this.loop = loop;
        }

        @Override
        public ChannelFuture connect(InetAddress address) {
            return bootstrap(loop, null).connect(new InetSocketAddress(address, server.port()));
        }

        @Override
        public void won(InetAddress address, Channel channel) {
            super.won(address, channel);
            ready(channel);
        }

        @Override
        public void over(InetAddress address, Throwable cause) {
            String text = server + ": " + Reason.of(cause) + (addresses == 1
                    ? ""
                    : "; none of its " + addresses + " addresses can be reached");
            boolean absent = cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException);
            sink.error(absent ? DialFailure.absent(text) : DialFailure.unreachable(text));
        }
    }

    /** Connects to the proxy, which connects to the server. */
    private final class Proxied extends Attempts<ProxyHandler> {
        private final HostPort server;
        private final OutboundProxy proxy;
        private final int addresses;
        private final EventLoop loop;

        Proxied(HostPort server, OutboundProxy proxy, List<ProxyHandler> all, EventLoop loop,
                MonoSink<Channel> sink) {
            super(all, sink);
            this.server = server;
            this.proxy = proxy;
            this.addresses = all.size();
            this.loop = loop;
        }

        @Override
        public ChannelFuture connect(ProxyHandler handler) {
            handler.setConnectTimeoutMillis(PROXY_TIMEOUT.toMillis());
            InetAddress literal = NoProxy.literal(server.host());
            var target = literal == null
                    ? server.unresolved()
                    : new InetSocketAddress(literal, server.port());
            return bootstrap(loop, handler).connect(target);
        }

        @Override
        public void won(ProxyHandler handler, Channel channel) {
            super.won(handler, channel);
            handler.connectFuture().addListener(let -> {
                if (let.isSuccess()) {
                    ready(channel);
                } else {
                    sink.error(ProxyRefusal.of(proxy, server, let.cause()));
                }
            });
        }

        @Override
        public void over(ProxyHandler handler, Throwable cause) {
            sink.error(DialFailure.unreachable("the proxy " + proxy + " can't be reached: " + Reason.of(cause)
                    + (addresses == 1 ? "" : "; none of its " + addresses + " addresses can be reached")));
        }
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

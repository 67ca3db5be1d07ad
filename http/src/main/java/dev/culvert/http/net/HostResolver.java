package dev.culvert.http.net;

import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.InetSocketAddressResolver;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Resolves the names that Reactor Netty's clients connect to. All addresses of both families are found, in
 * turns, so that the client tries the next one when one fails. Thread-safe; its resolvers end with their
 * event loops.
 */
public final class HostResolver extends AddressResolverGroup<InetSocketAddress> {
    private final EventLoops loops;

    /** @param loops the event loops of the clients */
    public HostResolver(EventLoops loops) {
        this.loops = loops;
    }

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
        boolean epoll = loops.socketChannel() == EpollSocketChannel.class;
        var dns = new DnsNameResolverBuilder((EventLoop) executor)
                .datagramChannelType(epoll ? EpollDatagramChannel.class : NioDatagramChannel.class)
                .socketChannelType(loops.socketChannel())
                .completeOncePreferredResolved(false)
                .build();
        return new InetSocketAddressResolver(executor, new Names(executor, dns));
    }

    private static final class Names extends InetNameResolver {
        private final DnsNameResolver dns;

        Names(EventExecutor executor, DnsNameResolver dns) {
            super(executor);
            this.dns = dns;
        }

        @Override
        protected void doResolve(String host, Promise<InetAddress> answer) {
            Promise<List<InetAddress>> all = executor().newPromise();
            all.addListener((Future<List<InetAddress>> found) -> {
                if (found.isSuccess()) {
                    answer.trySuccess(found.getNow().getFirst());
                } else {
                    answer.tryFailure(found.cause());
                }
            });
            doResolveAll(host, all);
        }

        @Override
        protected void doResolveAll(String host, Promise<List<InetAddress>> answer) {
            List<InetAddress> loopback = HostAddresses.loopback(host);
            if (loopback != null) {
                answer.trySuccess(loopback);
                return;
            }
            dns.resolveAll(host).addListener((Future<List<InetAddress>> found) -> {
                if (found.isSuccess()) {
                    answer.trySuccess(AddressOrder.interleaved(found.getNow()));
                } else {
                    answer.tryFailure(found.cause());
                }
            });
        }

        @Override
        public void close() {
            dns.close();
        }
    }
}

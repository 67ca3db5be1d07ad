package dev.culvert.router;

import dev.culvert.edge.config.HostPort;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds upstreams' addresses: those configured first, else DNS, without blocking. Used on one event loop alone. */
final class UpstreamResolver {
    /** A service that moved must be found soon; cluster DNS answers from memory. */
    private static final int MAX_CACHE_SECONDS = 10;

    private final Supplier<Map<String, HostPort>> addresses;
    private final EventLoop loop;
    private final boolean epoll;
    private final int timeoutMillis;
    /** Made when the first name needs it: it costs a socket. */
    private @Nullable DnsNameResolver dns;

    /**
     * @param addresses what wins over DNS, by {@code host} or {@code host:port}
     * @param epoll whether the loop's sockets are epoll's
     * @param timeoutMillis for one query
     */
    UpstreamResolver(Supplier<Map<String, HostPort>> addresses, EventLoop loop, boolean epoll,
            int timeoutMillis) {
        this.addresses = addresses;
        this.loop = loop;
        this.epoll = epoll;
        this.timeoutMillis = timeoutMillis;
    }

    /** The address to dial. Completes on the loop. */
    Future<InetSocketAddress> resolve(UpstreamAddress upstream) {
        HostPort target = target(upstream);
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(target.host());
        if (literal != null) {
            try {
                return loop.newSucceededFuture(
                        new InetSocketAddress(InetAddress.getByAddress(literal), target.port()));
            } catch (UnknownHostException e) {
                return loop.newFailedFuture(e);
            }
        }
        Promise<InetSocketAddress> resolved = loop.newPromise();
        dns().resolve(target.host()).addListener((Future<InetAddress> found) -> {
            if (found.isSuccess()) {
                resolved.setSuccess(new InetSocketAddress(found.getNow(), target.port()));
            } else {
                resolved.setFailure(found.cause());
            }
        });
        return resolved;
    }

    private HostPort target(UpstreamAddress upstream) {
        HostPort plain = new HostPort(upstream.host(), upstream.port());
        HostPort exact = addresses.get().get(plain.toString());
        return exact != null ? exact : addresses.get().getOrDefault(upstream.host(), plain);
    }

    private DnsNameResolver dns() {
        if (dns == null) {
            dns = new DnsNameResolverBuilder(loop)
                    .datagramChannelType(epoll ? EpollDatagramChannel.class : NioDatagramChannel.class)
                    .socketChannelType(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
                    .ttl(0, MAX_CACHE_SECONDS)
                    .queryTimeoutMillis(timeoutMillis)
                    .build();
        }
        return dns;
    }

    void close() {
        if (dns != null) {
            dns.close();
            dns = null;
        }
    }
}

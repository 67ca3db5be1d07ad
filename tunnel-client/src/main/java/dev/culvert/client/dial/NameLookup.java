package dev.culvert.client.dial;

import dev.culvert.http.net.AddressOrder;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HostAddresses;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.DefaultHostsFileEntriesResolver;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsNameResolverTimeoutException;
import io.netty.resolver.dns.NoopDnsCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Resolves all addresses of a name without a cache, so that the next dial finds a server that has moved. Uses
 * the hosts file, then DNS according to /etc/resolv.conf. Blocks no event loop.
 */
public final class NameLookup {
    /** The time-out of one query. Several DNS servers give several queries. */
    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(3);
    /** The time-out of all queries for a name, including search domains. */
    private static final Duration LOOKUP_TIMEOUT = Duration.ofSeconds(8);
    /** The maximum number of addresses, enough for any real server and few enough for one dial. */
    static final int MAX_ADDRESSES = 8;

    private final EventLoops loops;

    public NameLookup(EventLoops loops) {
        this.loops = loops;
    }

    /**
     * Resolves a host to at most {@value #MAX_ADDRESSES} addresses, in turns of both families, IPv4
     * first. An address resolves to itself. Emits on {@code loop}. Errors: {@link DialFailure}. Never empty.
     */
    public Mono<List<InetAddress>> all(String host, EventLoop loop) {
        InetAddress literal = NoProxy.literal(host);
        if (literal != null) {
            return onLoop(Mono.just(List.of(literal)), loop);
        }
        List<InetAddress> loopback = HostAddresses.loopback(host);
        if (loopback != null) {
            return onLoop(Mono.just(loopback), loop);
        }
        return Mono.fromCallable(() -> resolver(loop)) // reads the hosts file, which blocks
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(resolver -> asked(resolver, host).timeout(LOOKUP_TIMEOUT)
                        .doFinally(signal -> resolver.close()))
                .onErrorMap(e -> !(e instanceof DialFailure), e -> failure(host, e));
    }

    private static <T> Mono<T> onLoop(Mono<T> source, EventLoop loop) {
        return source.publishOn(Schedulers.fromExecutor(loop));
    }

    private DnsNameResolver resolver(EventLoop loop) {
        boolean epoll = loops.socketChannel() == EpollSocketChannel.class;
        return new DnsNameResolverBuilder(loop)
                .datagramChannelType(epoll ? EpollDatagramChannel.class : NioDatagramChannel.class)
                .socketChannelType(loops.socketChannel())
                .hostsFileEntriesResolver(new DefaultHostsFileEntriesResolver())
                .resolveCache(NoopDnsCache.INSTANCE)
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .completeOncePreferredResolved(false)
                .queryTimeoutMillis(QUERY_TIMEOUT.toMillis())
                .build();
    }

    private static Mono<List<InetAddress>> asked(DnsNameResolver resolver, String host) {
        return Mono.create(sink -> {
            Future<List<InetAddress>> asked = resolver.resolveAll(host);
            sink.onCancel(() -> asked.cancel(false));
            asked.addListener((Future<List<InetAddress>> found) -> {
                if (found.isSuccess()) {
                    sink.success(AddressOrder.interleaved(found.getNow())
                            .stream()
                            .limit(MAX_ADDRESSES)
                            .toList());
                } else {
                    sink.error(found.cause());
                }
            });
        });
    }

    private static DialFailure failure(String host, Throwable cause) {
        boolean late = cause instanceof TimeoutException || cause instanceof DnsNameResolverTimeoutException
                || cause.getCause() instanceof DnsNameResolverTimeoutException;
        return DialFailure.unreachable(
                "the name " + host + " can't be resolved" + (late ? ": DNS did not answer in time" : ""));
    }
}

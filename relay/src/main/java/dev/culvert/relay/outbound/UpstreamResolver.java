package dev.culvert.relay.outbound;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.HostAddresses;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamNames;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the addresses of upstreams: from the configured table, else with DNS. Does not block. Used on one
 * event loop alone.
 */
public final class UpstreamResolver {
    private static final int NDOTS_OF_PODS = 5;
    private static final DnsRecord[] NO_RECORDS = {};

    private final Upstreams shared;
    private final EventLoop loop;
    private final boolean epoll;
    private final int timeoutMillis;
    private final @Nullable List<String> searchDomains;
    /** Created when a name first needs it, because it takes a socket. */
    private @Nullable DnsNameResolver dns;
    private List<InetSocketAddress> servers = List.of();

    /**
     * @param epoll whether the loop uses epoll
     * @param timeoutMillis the time-out of one query
     */
    UpstreamResolver(Upstreams shared, EventLoop loop, boolean epoll, int timeoutMillis) {
        this(shared, loop, epoll, timeoutMillis, null);
    }

    /**
     * @param searchDomains the search domains for names of less than 6 labels, as in a pod; null: those of
     *     the system
     */
    public UpstreamResolver(Upstreams shared, EventLoop loop, boolean epoll, int timeoutMillis,
            @Nullable List<String> searchDomains) {
        this.searchDomains = searchDomains;
        this.shared = shared;
        this.loop = loop;
        this.epoll = epoll;
        this.timeoutMillis = timeoutMillis;
    }

    /**
     * Resolves the addresses of an upstream.
     *
     * @param then called once, on the loop, possibly before this returns
     */
    public void resolve(UpstreamAddress upstream, Consumer<Resolution> then) {
        UpstreamNames names = shared.names();
        var search = new Search(upstream, then);
        for (HostPort target : names.targets(upstream)) {
            byte[] literal = NetUtil.createByteArrayFromIpAddressString(target.host());
            List<InetAddress> loopback = literal == null ? HostAddresses.loopback(target.host()) : null;
            if (literal != null) {
                search.add(literal, target.port());
            } else if (loopback != null) {
                search.add(target, loopback);
            } else {
                search.ask(dns(names.servers()), target);
            }
        }
        search.finish();
    }

    /**
     * The result of resolving an upstream.
     *
     * @param found its addresses, for each configured target that has any; empty: it does not resolve now
     * @param unknown whether DNS knows no such name, and the name contains values of callers; false if DNS
     *     did not answer or failed
     */
    public record Resolution(List<Endpoints.Found> found, boolean unknown) {
        /** All addresses. */
        public List<InetSocketAddress> addresses() {
            return found.stream().flatMap(each -> each.addresses().stream()).toList();
        }
    }

    /** Resolves several targets, each of which may be a name. */
    private final class Search {
        private final UpstreamAddress upstream;
        private final Consumer<Resolution> then;
        private final List<Endpoints.Found> found = new ArrayList<>();
        private boolean unknown;
        private int open = 1;

        Search(UpstreamAddress upstream, Consumer<Resolution> then) {
            this.upstream = upstream;
            this.then = then;
        }

        void add(byte[] literal, int port) {
            try {
                var address = new InetSocketAddress(InetAddress.getByAddress(literal), port);
                found.add(new Endpoints.Found(null, List.of(address)));
            } catch (UnknownHostException e) {
                throw new IllegalStateException("4 and 16 bytes are addresses", e);
            }
        }

        void add(HostPort name, List<InetAddress> addresses) {
            found.add(new Endpoints.Found(name,
                    addresses.stream().map(each -> new InetSocketAddress(each, name.port())).toList()));
        }

        void ask(DnsNameResolver dns, HostPort target) {
            open++;
            String name = upstream.question(target.host());
            dns.resolveAll(name).addListener((Future<List<InetAddress>> answer) -> {
                if (answer.isSuccess()) {
                    add(target, answer.getNow());
                } else if (isOfCaller(target) && isUnknown(answer.cause())) {
                    unknown = true;
                    // Netty's own entry lacks the reason.
                    shared.nameCache().cache(name, NO_RECORDS, answer.cause(), loop);
                }
                finish();
            });
        }

        private boolean isOfCaller(HostPort target) {
            return upstream.filled() && target.host().equals(upstream.host());
        }

        /** Whether DNS answered that there is no such name. */
        private static boolean isUnknown(Throwable failure) {
            return failure.getCause() instanceof DnsErrorCauseException answered
                    && answered.getCode().equals(DnsResponseCode.NXDOMAIN);
        }

        void finish() {
            open--;
            if (open == 0) {
                then.accept(new Resolution(List.copyOf(found), unknown));
            }
        }
    }

    private DnsNameResolver dns(List<InetSocketAddress> asked) {
        DnsNameResolver made = dns;
        if (made != null && servers.equals(asked)) {
            return made;
        }
        close();
        var builder = new DnsNameResolverBuilder(loop)
                .datagramChannelType(epoll ? EpollDatagramChannel.class : NioDatagramChannel.class)
                .socketChannelType(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
                .resolveCache(shared.nameCache())
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
                // both families: a server may listen on one alone
                .completeOncePreferredResolved(false)
                .queryTimeoutMillis(timeoutMillis);
        if (searchDomains != null) {
            builder.searchDomains(searchDomains).ndots(NDOTS_OF_PODS);
        }
        servers = asked;
        made = asked.isEmpty()
                ? builder.build()
                : builder.nameServerProvider(new SequentialDnsServerAddressStreamProvider(asked)).build();
        dns = made;
        return made;
    }

    public void close() {
        if (dns != null) {
            dns.close();
            dns = null;
        }
    }
}

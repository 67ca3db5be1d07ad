package dev.culvert.client.doctor;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Connector;
import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.dial.Finding;
import dev.culvert.client.dial.NameLookup;
import dev.culvert.client.dial.NoProxy;
import dev.culvert.client.dial.Outbound;
import dev.culvert.client.dial.OutboundProxy;
import dev.culvert.client.dial.TlsChecks;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks the path to a tunnel server step by step, as a client with this configuration would use it: proxy,
 * DNS, connection, TLS, WebSocket, clock, and the life of an idle connection. It sends no secret and changes
 * no state, neither locally nor at the server. A client may run at the same time.
 */
public final class Preflight {
    private final ClientConfig config;
    private final Connector connector;
    private final NameLookup names;
    private final EventLoops loops;
    private final EventLoop loop;
    private final Clock clock;

    /**
     * @param loops borrowed
     * @param clock the clock to compare with the server's
     */
    public Preflight(ClientConfig config, EventLoops loops, Clock clock) {
        this.config = config;
        this.connector = new Connector(loops, Outbound.of(config));
        this.names = new NameLookup(loops);
        this.loops = loops;
        this.loop = loops.group().next();
        this.clock = clock;
    }

    /**
     * Checks one address of the server. Skips checks whose prerequisites have failed. Errors: {@link
     * dev.culvert.certs.CertsException} and {@link dev.culvert.config.ConfigException} for unreadable files
     * of the configuration.
     *
     * @param idle the maximum time for which an idle connection is watched; zero skips the check
     */
    public Flux<Finding> check(URI server, Duration idle) {
        HostPort address = Dialler.address(server);
        OutboundProxy proxy = connector.proxyFor(address);
        return Flux.concat(Mono.just(proxyFinding(proxy)), dns(address, proxy),
                reached(server, address, proxy, idle));
    }

    private static Finding proxyFinding(@Nullable OutboundProxy proxy) {
        return Finding.ok("proxy",
                proxy == null
                        ? "none: neither proxy.url nor HTTPS_PROXY names one for this server"
                        : proxy + (proxy.user() == null ? ", without a user" : ", with a user"));
    }

    private Mono<Finding> dns(HostPort server, @Nullable OutboundProxy proxy) {
        String host = proxy == null ? server.host() : proxy.address().host();
        if (NoProxy.literal(host) != null) {
            return Mono.just(Finding.ok("dns", host + " is an address" + byProxy(proxy)));
        }
        long begun = System.nanoTime();
        return names.all(host, loop)
                .map(addresses -> Finding.ok("dns", host + " is " + texts(addresses) + ", found in "
                        + millis(begun) + byProxy(proxy)))
                .onErrorResume(DialFailure.class, e -> Mono.just(Finding.failed("dns",
                        e.getMessage() + " (" + millis(begun) + ")",
                        proxy == null
                                ? "check the name and the resolver of this machine or pod; where only a proxy knows outer names, name that in proxy.url or HTTPS_PROXY"
                                : "check the proxy's name in " + proxy.setBy())));
    }

    private static String byProxy(@Nullable OutboundProxy proxy) {
        return proxy == null ? "" : "; the server's name is looked up by the proxy";
    }

    private static String texts(List<InetAddress> addresses) {
        return addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "));
    }

    private Flux<Finding> reached(URI server, HostPort address, @Nullable OutboundProxy proxy,
            Duration idle) {
        long begun = System.nanoTime();
        return connector.open(address, loop)
                .map(channel -> connected(channel, address, proxy, begun))
                .flux()
                .concatWith(Flux.defer(() -> encrypted(server, address, idle)))
                .onErrorResume(DialFailure.class, e -> Mono.just(Finding.failed("connect",
                        e.getMessage() + " (" + millis(begun) + ")",
                        proxy == null
                                ? "a firewall here must let connections out to " + address
                                        + ", or a proxy must be named in proxy.url or HTTPS_PROXY; is the server running?"
                                : "ask the proxy's operator about CONNECT to " + address)));
    }

    private static Finding connected(Channel channel, HostPort address, @Nullable OutboundProxy proxy,
            long begun) {
        String remote = String.valueOf(channel.remoteAddress());
        channel.close();
        return Finding.ok("connect", proxy == null
                ? "TCP to " + remote + " in " + millis(begun)
                : "the proxy opened " + address + " in " + millis(begun));
    }

    private Flux<Finding> encrypted(URI server, HostPort address, Duration idle) {
        return new IdentitySource(config, loops, connector, IdentitySource.link(config), clock).trusts()
                .flatMapMany(trust -> new TlsChecks(connector, loop, clock, trust).check(server, address)
                        .concatWith(idle.isZero()
                                ? Mono.empty()
                                : new IdleCheck(connector, loop, trust).check(server, address, idle)));
    }

    static String millis(long begunNanos) {
        return Duration.ofNanos(System.nanoTime() - begunNanos).toMillis() + " ms";
    }
}

package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.relay.tls.TlsLink;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/** Opens a WebSocket to a tunnel server, on an event loop of the caller's choice. */
public final class Dialler {
    private static final String DEFAULT_PATH = "/tunnel/v1";
    private static final int DEFAULT_PORT = 443;
    /** The time-out of TLS and the WebSocket handshake together. */
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
    /** The maximum body of a refusal in bytes. A problem document is far smaller. */
    private static final int MAX_REFUSAL = 64 << 10;

    private final Connector connector;
    private final OpenSessions sessions;

    /** @param sessions records opened WebSockets and failures */
    public Dialler(Connector connector, OpenSessions sessions) {
        this.connector = connector;
        this.sessions = sessions;
    }

    /** Adds the default path and port to an address without them. */
    static URI complete(URI server) {
        String path = server.getPath() == null || server.getPath().isEmpty() || server.getPath().equals("/")
                ? DEFAULT_PATH
                : server.getPath();
        int port = server.getPort() < 0 ? DEFAULT_PORT : server.getPort();
        String host = server.getHost();
        return URI.create("wss://" + host + ":" + port + path);
    }

    /**
     * The server's name as in certificates and proofs: in lower case, without the trailing dot of an absolute
     * DNS name.
     */
    public static String hostName(URI server) {
        return bareName(server.getHost().toLowerCase(Locale.ROOT));
    }

    /** Removes the trailing dot of an absolute DNS name, which TLS does not allow (RFC 6066 §3). */
    public static String bareName(String host) {
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    /** The address of a server, IPv6 without brackets. */
    public static HostPort address(URI server) {
        URI target = complete(server);
        return new HostPort(Connector.bare(target.getHost()), target.getPort());
    }

    /**
     * Dials a server. {@code upgraded} is called on {@code loop} in the pass in which the WebSocket opens, to
     * add its handler before a byte is read. Errors: {@link DialFailure}. Cancelling closes the connection.
     *
     * @param connection the number of the connection among those of this client, from 0
     */
    public Mono<Channel> dial(URI server, SslContext tls, int connection, EventLoop loop,
            Consumer<Channel> upgraded) {
        URI target = complete(server);
        HostPort address = address(target);
        return connector.open(address, loop)
                .flatMap(channel -> Mono.<Channel>create(sink -> {
                    sink.onCancel(channel::close);
                    init(channel, address, tls,
                            new ClientHandshake(target, connection, upgraded, sink::success, sink::error));
                }))
                .doOnNext(channel -> sessions.opened(target, connector.proxyFor(address), channel))
                .doOnError(failure -> sessions.failed(String.valueOf(failure.getMessage())));
    }

    private static void init(Channel channel, HostPort address, SslContext tls, ClientHandshake handshake) {
        SslHandler ssl = tls.newHandler(channel.alloc(), bareName(address.host()), address.port());
        TlsLink.watch(tls, ssl, channel);
        ssl.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT.toMillis());
        channel.pipeline()
                .addLast(HandlerNames.TLS, ssl)
                .addLast(HandlerNames.HTTP, new HttpClientCodec())
                .addLast(HandlerNames.REFUSAL_BODY, new HttpObjectAggregator(MAX_REFUSAL))
                .addLast(HandlerNames.TUNNEL_HANDSHAKE, handshake);
    }
}

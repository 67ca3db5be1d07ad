package dev.culvert.client;

import dev.culvert.edge.EventLoops;
import dev.culvert.edge.Reason;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Opens a WebSocket to a tunnel server, on an event loop of the caller's choice. */
final class Dialler {
    private static final String DEFAULT_PATH = "/tunnel/v1";
    private static final int DEFAULT_PORT = 443;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    /** TLS, then the WebSocket's handshake. */
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
    /** One batch at most waits behind the one that the socket is taking (docs/protocol.md §7). */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);
    private static final long NOT_SENT_LOW_WATER = 128 << 10;
    /** A problem, as the server refuses with, is far smaller. */
    private static final int MAX_REFUSAL = 64 << 10;

    private final EventLoops loops;

    Dialler(EventLoops loops) {
        this.loops = loops;
    }

    /** The address with the path and port that a server without them means. */
    static URI complete(URI server) {
        String path = server.getPath() == null || server.getPath().isEmpty() || server.getPath().equals("/")
                ? DEFAULT_PATH
                : server.getPath();
        int port = server.getPort() < 0 ? DEFAULT_PORT : server.getPort();
        String host = server.getHost();
        return URI.create("wss://" + host + ":" + port + path);
    }

    /**
     * Dials. {@code upgraded} is called on {@code loop} once the WebSocket is open, in the same pass, to add its handler
     * before a byte is read. Errors: {@link DialFailure}. Cancelling closes the connection.
     */
    Mono<Channel> dial(URI server, SslContext tls, EventLoop loop, Consumer<Channel> upgraded) {
        URI target = complete(server);
        return Mono.fromCallable(() -> InetAddress.getByName(target.getHost()))
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(UnknownHostException.class,
                        e -> DialFailure.unreachable("the name " + target.getHost() + " can't be resolved"))
                .flatMap(address -> connect(target, new InetSocketAddress(address, target.getPort()), tls,
                        loop, upgraded));
    }

    private Mono<Channel> connect(URI target, InetSocketAddress address, SslContext tls, EventLoop loop,
            Consumer<Channel> upgraded) {
        return Mono.create(sink -> {
            ClientHandshake handshake = new ClientHandshake(target, upgraded, sink::success, sink::error);
            Bootstrap bootstrap = new Bootstrap().group(loop)
                    .channel(loops.socketChannel())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) CONNECT_TIMEOUT.toMillis())
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            init(channel, target, tls, handshake);
                        }
                    });
            var connecting = bootstrap.connect(address);
            sink.onCancel(() -> connecting.channel().close());
            connecting.addListener(done -> {
                if (!done.isSuccess()) {
                    sink.error(DialFailure.unreachable(target.getHost() + ":" + target.getPort() + ": "
                            + Reason.of(done.cause())));
                }
            });
        });
    }

    private static void init(Channel channel, URI target, SslContext tls, ClientHandshake handshake) {
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, NOT_SENT_LOW_WATER);
        }
        SslHandler ssl = tls.newHandler(channel.alloc(), target.getHost(), target.getPort());
        ssl.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT.toMillis());
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.addLast(ssl, new HttpClientCodec(), new HttpObjectAggregator(MAX_REFUSAL), handshake);
    }
}
